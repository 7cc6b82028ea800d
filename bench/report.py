"""Samples → rows → a table, a JSON document and RESULTS.md."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

OURS = "tern"


@dataclass(frozen=True)
class Sample:
    """Mean milliseconds of a text of `tokens` tokens in one round."""

    engine: str
    dim: int
    tokens: int
    ms: float


@dataclass(frozen=True)
class Row:
    """The median of an engine's samples on one host: `ms` is process-CPU time a text."""

    host: str
    engine: str
    dim: int
    tokens: int
    ms: float


def rows(host: str, samples: Iterable[Sample]) -> list[Row]:
    """One row an engine, width and token count, in the order in which the samples name them."""
    grouped: dict[tuple[str, int, int], list[float]] = {}
    for sample in samples:
        grouped.setdefault((sample.engine, sample.dim, sample.tokens), []).append(sample.ms)
    found = [Row(host, *key, statistics.median(ms)) for key, ms in grouped.items()]
    order = {row.engine: index for index, row in reversed(list(enumerate(found)))}
    return sorted(found, key=lambda row: (order[row.engine], row.dim, row.tokens))


def document(measured: Sequence[Row]) -> dict[str, Any]:
    """What `--json` writes. Cold starts and sizes have their places, filled when measured."""
    return {"rows": [asdict(row) for row in measured], "cold": [], "bytes": {}}


def table(measured: Sequence[Row]) -> str:
    """Markdown: a line a token count, a column an engine, and how many times ours is faster."""
    columns = list(dict.fromkeys((row.host, row.engine, row.dim) for row in measured))
    ms = {(row.host, row.engine, row.dim, row.tokens): row.ms for row in measured}
    sizes = sorted({row.tokens for row in measured})

    header, lines = ["tokens"], [[str(tokens)] for tokens in sizes]
    for host, engine, dim in columns:
        header.append(f"{engine}, d {dim}, {host}")
        for tokens, line in zip(sizes, lines, strict=True):
            line.append(f"{ms[host, engine, dim, tokens]:.3f} ms")
    for host, engine, dim in columns:
        ours = next((c for c in columns if c[:2] == (host, OURS)), None)
        if engine == OURS or ours is None:
            continue
        header.append(f"{engine} / {OURS}")
        for tokens, line in zip(sizes, lines, strict=True):
            line.append(f"{ms[host, engine, dim, tokens] / ms[*ours, tokens]:.1f}×")

    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]

    def written(cells: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        return f"| {' | '.join(padded)} |"

    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([written(header), rule, *map(written, lines)])


def machine() -> str:
    """Processor, Node and date, in one line."""
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True)
    today = datetime.date.today().isoformat()
    return f"{_processor()}, {os.cpu_count()} cores · Node {node.stdout.strip()} · {today}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def results(measured: Sequence[Row], verdict: str) -> str:
    """RESULTS.md."""
    return f"""# Results

Written by `python3 build.py bench --write-results`; README.md in this folder says what is measured.

{machine()}

{table(measured)}

{verdict}
"""
