"""Builds the training plan: cleaned, deduplicated open texts in the order they are encoded.

    python -m training.distill.corpus --data DIR [--name main]

Writes <cache>/corpus/<name>/: plan.txt.gz (one text a line, tab, its origin), held_out.txt.gz and
report.json (per source: licence, lines read, kept, dropped and why).
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.distill import queries
from training.distill.paths import cache_dir, data_dir, write_atomically
from training.distill.sources import (
    CROSSED_QUERIES,
    HELD_OUT_QUERY_SOURCE,
    HELD_OUT_TEXTS,
    PASSAGE_SOURCES,
    SOURCES,
)
from training.distill.textkeys import forbidden_keys, is_forbidden, key, rank, read_lines, unique

SEED = 20_240_501
SHORT_WORDS = 12
MOST_WORDS = 110  # 128 tokens hold about this many
CHUNK_TEXTS = 16_384
SHORT_CHUNKS = 16  # training starts on these while the rest is encoded


@dataclass
class Plan:
    """Texts with their origin, and what happened on the way."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    held_out: list[tuple[str, str]] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)


def clean(text: str) -> str:
    """Single spaces, at most MOST_WORDS words."""
    return " ".join(text.replace("\t", " ").split()[:MOST_WORDS])


def build(data: Path, scale: float = 1.0) -> Plan:
    """Read every allowed source under data/corpus and lay out the plan.

    `scale` shrinks all shares (for samples). A source whose file is missing is reported, not an
    error.
    """
    rng = random.Random(SEED)
    forbidden = forbidden_keys(data)
    seen: set[str] = set()
    plan = Plan()
    natural: list[tuple[str, str]] = []
    made: list[tuple[str, str]] = []
    for source in SOURCES:
        path = data / "corpus" / f"{source.name}.txt.gz"
        if not path.exists():
            plan.report[source.name] = {"missing": True}
            continue
        lines = [clean(line) for line in read_lines(path)]
        allowed = [line for line in lines if not is_forbidden(line, forbidden)]
        fresh = list(unique(allowed, seen))
        taken = sorted(fresh, key=lambda text: rank(text, "share"))[: round(source.share * scale)]
        natural += [(queries.webbed(text, rng), source.name) for text in taken]
        spans = [
            cut
            for _ in range(round(source.spans * scale))
            if (cut := queries.span(rng.choice(fresh), rng))
        ]
        glued = queries.passages(allowed, round(PASSAGE_SOURCES.get(source.name, 0) * scale), rng)
        made += [(text, f"span:{source.name}") for text in spans]
        made += [(clean(text), f"passage:{source.name}") for text in glued]
        if source.name == HELD_OUT_QUERY_SOURCE:
            crossed = queries.crossed(fresh, round(CROSSED_QUERIES * scale), rng)
            made += [(text, f"crossed:{source.name}") for text in crossed]
        plan.report[source.name] = {
            "licence": source.licence,
            "lines": len(lines),
            "dropped_evaluation": len(lines) - len(allowed),
            "dropped_duplicate": len(allowed) - len(fresh),
            "taken": len(taken),
        }
    _lay_out(plan, natural, made, seen, forbidden, rng, round(HELD_OUT_TEXTS * min(1.0, scale * 4)))
    return plan


def _lay_out(
    plan: Plan,
    natural: list[tuple[str, str]],
    made: list[tuple[str, str]],
    seen: set[str],
    forbidden: set[str],
    rng: random.Random,
    hold: int,
) -> None:
    natural.sort(key=lambda item: rank(item[0], "held out"))
    plan.held_out = natural[:hold]
    held = {key(text) for text, _ in plan.held_out}
    texts = natural[hold:]
    for text, origin in made:
        name = key(text)
        if name and name not in seen and name not in held and not is_forbidden(text, forbidden):
            seen.add(name)
            texts.append((text, origin))
    rng.shuffle(texts)
    short = [item for item in texts if len(item[0].split()) <= SHORT_WORDS]
    first = short[: SHORT_CHUNKS * CHUNK_TEXTS]
    chosen = {text for text, _ in first}
    rest = [item for item in texts if item[0] not in chosen]
    rng.shuffle(rest)
    plan.texts = first + rest
    plan.report["in_plan"] = dict(Counter(origin for _, origin in plan.texts))
    plan.report["held_out"] = dict(Counter(origin for _, origin in plan.held_out))
    plan.report["total"] = len(plan.texts)


def _packed(rows: list[tuple[str, str]]) -> bytes:
    text = "".join(f"{text}\t{origin}\n" for text, origin in rows)
    return gzip.compress(text.encode(), compresslevel=4, mtime=0)


def read_plan(path: Path) -> list[tuple[str, str]]:
    """(text, origin) rows of a plan file."""
    with gzip.open(path, "rt", encoding="utf8") as lines:
        rows = [line.rstrip("\n").rsplit("\t", 1) for line in lines]
    return [(text, origin) for text, origin in rows]


def save(plan: Plan, folder: Path) -> None:
    """Write the three files of a plan."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / "held_out.txt.gz", _packed(plan.held_out))
    write_atomically(folder / "report.json", json.dumps(plan.report, indent=1).encode())
    write_atomically(folder / "plan.txt.gz", _packed(plan.texts))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data")
    parser.add_argument("--name", default="main")
    parser.add_argument("--scale", type=float, default=1.0)
    given = parser.parse_args()
    plan = build(data_dir(given.data), given.scale)
    save(plan, cache_dir() / "corpus" / given.name)
    print(json.dumps(plan.report, indent=1))


if __name__ == "__main__":
    main()
