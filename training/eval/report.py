"""RESULTS.md from the kept results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

_HEAD = """# Results

Made by `python -m training.eval WHAT --keep` from the files in results/, which hold the command,
the date and the model's SHA-256. Scores are of one model each; no set chose among seeds.

All but the teacher ran in the shipped engine. "Spearman to teacher" compares the cosines of 20,000
random pairs. STS is Spearman: a year's mean is over its files, "all" over its pairs together.
SciFact is the 128-token prefix of title and text; "passages" takes the best of 80-word pieces
behind the title.
"""


def kept_results(folder: Path = FOLDER) -> dict[str, dict[str, Any]]:
    """The kept results by name."""
    paths = sorted((folder / "results").glob("*.json"))
    return {path.stem: json.loads(path.read_text("utf-8")) for path in paths}


def table(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Markdown lines: one line a measure, one column a name of `rows`."""
    measures = list(dict.fromkeys(measure for scores in rows.values() for measure in scores))
    lines = ["| measure | " + " | ".join(rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for measure in measures:
        cells = [f"{scores[measure]:.3f}" if measure in scores else "–" for scores in rows.values()]
        lines.append(f"| {measure} | " + " | ".join(cells) + " |")
    return lines


def report(folder: Path = FOLDER) -> str:
    """The text of RESULTS.md."""
    kept = kept_results(folder)
    models = {name: result for name, result in kept.items() if "scores" in result}
    lines = [_HEAD, *table({name: result["scores"] for name, result in models.items()})]
    lines += ["", "| name | model | date | SHA-256 |", "|---|---|---|---|"]
    for name, result in models.items():
        sha256 = result["sha256"] or "–"
        lines.append(f"| {name} | {result['model']} | {result['date']} | {sha256} |")
    for name, result in kept.items():
        if "tables" in result:
            lines += ["", f"## {name}: one checkpoint in each table format", ""]
            lines += [f"{result['model']}, {result['date']}.", "", *table(result["tables"])]
    notes = [f"- {name}: {result['note']}" for name, result in kept.items() if "note" in result]
    commands = [f"- {name}: `{result['command']}`" for name, result in kept.items()]
    lines += ["", "## Notes", "", *notes] if notes else []
    return "\n".join([*lines, "", "## Commands", "", *commands]) + "\n"


def write_report(folder: Path = FOLDER) -> None:
    """Rewrite RESULTS.md."""
    (folder / "RESULTS.md").write_text(report(folder), "utf-8")
