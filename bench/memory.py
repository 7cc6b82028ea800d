"""The memory of a page's process, as Linux accounts for it; elsewhere there is nothing to read."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

PROC = Path("/proc")
SAMPLE = 64  # bytes of a file that occur nowhere else
PIECES = 5
CHUNK = 1 << 24


@dataclass(frozen=True)
class Weight:
    """Of a page's process. private: bytes that no other shares; empty: of a page with nothing in
    it; workers: with the engine in so many workers; copies: how often the model's table lies in the
    memory of the first."""

    private: int
    empty: int
    workers: dict[int, int]
    copies: int


def largest_renderer() -> int:
    """The id of the heaviest renderer below this process: where one page is open, that page's."""
    own = os.getpid()
    parents = {}
    renderers = []
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parents[int(entry.name)] = int(
                (entry / "stat").read_text().rsplit(")", 1)[1].split()[1]
            )
            if b"--type=renderer" in (entry / "cmdline").read_bytes():
                renderers.append(int(entry.name))
        except OSError:  # ended meanwhile
            continue

    def ours(process: int) -> bool:
        while process in parents and process != own:
            process = parents[process]
        return process == own

    return max((pid for pid in renderers if ours(pid)), key=private_bytes)


def private_bytes(process: int) -> int:
    text = (PROC / str(process) / "smaps_rollup").read_text()
    return 1024 * sum(int(kb) for kb in re.findall(r"^Private_\w+:\s+(\d+) kB", text, re.M))


def copies(process: int, content: bytes) -> int:
    """How often `content` lies in the process's own memory: the least that a piece of it occurs.

    Pieces are of its first two thirds, which are a model's table. Single ones may occur more often,
    in memory that was freed and not used again.
    """
    starts = [len(content) * part // 8 for part in range(1, PIECES + 1)]
    wanted = [content[start : start + SAMPLE] for start in starts]
    counts = [0] * PIECES
    with (PROC / str(process) / "mem").open("rb") as memory:
        for line in (PROC / str(process) / "maps").read_text().splitlines():
            span, rights = line.split()[:2]
            if not rights.startswith("rw"):
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            found = _occurrences(memory, start, end, wanted)
            counts = [count + more for count, more in zip(counts, found, strict=True)]
    return min(counts)


def _occurrences(memory: BinaryIO, start: int, end: int, wanted: Sequence[bytes]) -> list[int]:
    counts, tail = [0] * len(wanted), b""
    while start < end:
        try:
            memory.seek(start)
            part = memory.read(min(CHUNK, end - start))
        except OSError:  # reserved, not used
            break
        if not part:
            break
        counts = [count + (tail + part).count(w) for count, w in zip(counts, wanted, strict=True)]
        tail = part[-SAMPLE + 1 :]
        start += len(part)
    return counts
