"""Samples → rows → tables, a JSON document and RESULTS.md."""

from __future__ import annotations

import datetime
import os
import platform
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OURS = "tern"
OBVIOUS = "obvious-simd"
HOSTS = ("node", "chromium", "cpython")
ENGINES = (OURS, OBVIOUS, "minilm-q8-wasm", "minilm-q8-native")
# Artifact → bytes raw, with gzip, with Brotli and with zstd.
Size = tuple[int, int, int, int]
Bytes = Mapping[str, Size]
CODINGS = ("raw", "gzip", "brotli", "zstd")


@dataclass(frozen=True)
class Sample:
    """Mean milliseconds of a text of `tokens` tokens in one round."""

    host: str
    engine: str
    dim: int
    tokens: int
    ms: float


@dataclass(frozen=True)
class Row:
    """An engine's samples on one host: `ms` is their median, `least` their minimum. Process-CPU
    time a text in Node and CPython, wall time in Chromium."""

    host: str
    engine: str
    dim: int
    tokens: int
    ms: float
    least: float


def rows(samples: Iterable[Sample]) -> list[Row]:
    """One row a host, engine, width and token count, in the order of HOSTS and ENGINES."""
    grouped: dict[tuple[str, str, int, int], list[float]] = {}
    for sample in samples:
        key = (sample.host, sample.engine, sample.dim, sample.tokens)
        grouped.setdefault(key, []).append(sample.ms)
    found = [Row(*key, statistics.median(ms), min(ms)) for key, ms in grouped.items()]
    return sorted(
        found,
        key=lambda r: (HOSTS.index(r.host), ENGINES.index(r.engine), r.dim, r.tokens),
    )


def document(
    measured: Sequence[Row],
    cold: Mapping[tuple[str, str, str, str], float],
    sizes: Bytes,
) -> dict[str, Any]:
    """What `--json` writes. `cold`: as cold.medians() gives it; of these, the starts from a local
    server of the engines as they ship."""
    return {
        "rows": [
            {
                "host": row.host,
                "engine": row.engine,
                "dim": row.dim,
                "tokens": row.tokens,
                "ms": row.ms,
            }
            for row in measured
        ],
        "cold": [
            {"host": host, "engine": engine, "visit": visit, "ms": ms}
            for (host, engine, visit, line), ms in cold.items()
            if engine in ENGINES and line == ""
        ],
        "bytes": {name: dict(zip(CODINGS, size, strict=True)) for name, size in sizes.items()},
    }


def host_table(measured: Sequence[Row], host: str, *, least: bool = False) -> str:
    """Markdown: a line a token count, a column an engine and width, and how many times ours of the
    same width is faster; a peer of another width is compared with ours of the smallest.

    least   of the minima instead of the medians
    """
    own = [row for row in measured if row.host == host]
    columns = list(dict.fromkeys((row.engine, row.dim) for row in own))
    ms = {(r.engine, r.dim, r.tokens): r.least if least else r.ms for r in own}
    sizes = sorted({row.tokens for row in own})
    ours = [dim for engine, dim in columns if engine == OURS]
    header, lines = ["tokens"], [[str(tokens)] for tokens in sizes]
    for engine, dim in columns:
        header.append(f"{engine}, d {dim}")
        for tokens, line in zip(sizes, lines, strict=True):
            line.append(f"{ms[engine, dim, tokens]:.3f} ms")
    for engine, dim in columns:
        if engine == OURS or not ours:
            continue
        base = dim if engine == OBVIOUS and dim in ours else min(ours)
        header.append(f"{engine} d {dim} / {OURS} d {base}")
        for tokens, line in zip(sizes, lines, strict=True):
            line.append(f"{ms[engine, dim, tokens] / ms[OURS, base, tokens]:.1f}×")
    return table(header, lines)


def table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table; the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]

    def written(cells: Sequence[str]) -> str:
        first, *rest = zip(cells, widths, strict=True)
        padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]
        return f"| {' | '.join(padded)} |"

    rule = f"|{'-' * (widths[0] + 2)}|"
    rule += "".join("-" * (width + 1) + ":|" for width in widths[1:])
    return "\n".join([written(header), rule, *map(written, lines)])


def cold_table(cold: Mapping[tuple[str, str, str, str], float]) -> str:
    lines: dict[tuple[str, str, str], dict[str, float]] = {}
    for (host, engine, visit, line), ms in cold.items():
        lines.setdefault((host, engine, line), {})[visit] = ms
    cells = [
        [
            f"{host}, {engine}",
            line or "local",
            *(f"{visits[v]:.0f} ms" if v in visits else "" for v in ("first", "second")),
        ]
        for (host, engine, line), visits in lines.items()
    ]
    return table(["host, engine", "line", "first", "second"], cells)


def bytes_table(sizes: Bytes) -> str:
    cells = [[name, *(f"{n:,}" for n in size)] for name, size in sizes.items()]
    return table(["artifact", *CODINGS], cells)


def machine() -> str:
    """Processor, Node and date, in one line."""
    node = subprocess.run(["node", "--version"], check=True, capture_output=True, text=True)
    today = datetime.date.today().isoformat()
    load = f" · load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{_processor()}, {os.cpu_count()} cores · Node {node.stdout.strip()} · {today}{load}"


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
