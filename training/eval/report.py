"""RESULTS.md from the kept results."""

from __future__ import annotations

import json
from pathlib import Path

RESULTS = Path(__file__).with_name("results")
REPORT = Path(__file__).with_name("RESULTS.md")

_HEAD = """# Results

Made by `python -m training.eval WHAT --keep` from the files in results/, which hold the command,
the date and the model's SHA-256. Scores are of one model each; no set chose among seeds.

"Spearman to teacher" compares the cosines of 20,000 random pairs. STS is Spearman: a year's mean
is over its files, "all" over its pairs together. SciFact is the 128-token prefix of title and
text; "passages" takes the best of 80-word pieces behind the title.
"""


def write_report() -> None:
    """Rewrite RESULTS.md."""
    kept = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    names = [path.stem for path in sorted(RESULTS.glob("*.json"))]
    measures = list(dict.fromkeys(name for result in kept for name in result["scores"]))
    lines = [_HEAD, "| measure | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for measure in measures:
        cells = [f"{result['scores'].get(measure, float('nan')):.3f}" for result in kept]
        lines.append(f"| {measure} | " + " | ".join(cells) + " |")
    lines += ["", "| name | model | date | SHA-256 |", "|---|---|---|---|"]
    for name, result in zip(names, kept, strict=True):
        lines.append(
            f"| {name} | {result['model']} | {result['date']} | {result['sha256'] or '–'} |"
        )
    notes = [
        f"{name}: {result['note']}"
        for name, result in zip(names, kept, strict=True)
        if "note" in result
    ]
    lines += ["", *notes] if notes else []
    REPORT.write_text("\n".join(lines) + "\n")
