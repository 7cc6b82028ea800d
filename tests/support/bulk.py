"""Texts of bulk runs, and what there is in a folder."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "pyapp")}
WORDS = (ROOT / "bench" / "sentences.txt").read_text("utf-8").split()
ROWS, ROWS_PER_PART = 6000, 100


def short_text(i: int) -> str | None:
    """A few words of the benchmark's texts; sometimes nothing."""
    start = 7 * i % (len(WORDS) - 12)
    return None if i % 97 == 5 else " ".join(WORDS[start : start + i % 9])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*.parquet"))
