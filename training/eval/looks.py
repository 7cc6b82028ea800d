"""How often each evaluation set was looked at, by whichever model.

Every scoring adds a line to <cache>/looks.jsonl; `--keep` carries them over to looks.jsonl beside
this file, which is committed. The checks during a run, on the two unseen sets, are in its log.csv.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

NAME = "looks.jsonl"
COMMITTED = Path(__file__).with_name(NAME)
FAMILIES = (
    "2,000 texts",
    "1,000 web queries",
    "STS-B dev",
    "STS 2012",
    "STS 2013",
    "STS 2014",
    "TREC-6",
    "SciFact",
)


def families(measures: Iterable[str]) -> list[str]:
    """The sets that measures belong to."""
    names = list(measures)
    return [family for family in FAMILIES if any(name.startswith(family) for name in names)]


def line(result: Mapping[str, Any]) -> str:
    """One look as a line: when, at what, at which sets."""
    kept = {name: result[name] for name in ("date", "model", "sha256")}
    return json.dumps(kept | {"sets": families(result["scores"])})


def note(result: Mapping[str, Any], folder: Path) -> None:
    """Remember a look in `folder`, the cache."""
    with (folder / NAME).open("a", encoding="utf8") as out:
        out.write(line(result) + "\n")


def carry_over(folder: Path, committed: Path) -> None:
    """Add the cache's looks to the committed ones, each once, by date."""
    kept = committed.read_text("utf-8").splitlines() if committed.exists() else []
    rows = [json.loads(text) for text in (folder / NAME).read_text("utf-8").splitlines()]
    fresh = [json.dumps(row) if "sets" in row else line(row) for row in rows]
    every = dict.fromkeys([*kept, *fresh])
    ordered = sorted(every, key=lambda text: str(json.loads(text)["date"]))
    committed.write_text("".join(f"{text}\n" for text in ordered), "utf-8")


def counts(committed: Path = COMMITTED) -> dict[str, tuple[int, int]]:
    """Per set: looks, and different models (by SHA-256, else by name) among them."""
    rows = [json.loads(text) for text in committed.read_text("utf-8").splitlines()]
    found: dict[str, tuple[int, int]] = {}
    for family in FAMILIES:
        seen = [row["sha256"] or row["model"] for row in rows if family in row["sets"]]
        found[family] = (len(seen), len(set(seen)))
    return found
