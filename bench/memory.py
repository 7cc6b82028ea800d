"""The memory of a page's process, as Linux accounts for it; elsewhere there is nothing to read."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

PROC = Path("/proc")
SAMPLE = 64  # bytes of a file that occur nowhere else
CHUNK = 1 << 24


@dataclass(frozen=True)
class Weight:
    """private: bytes that no other process shares; empty: of a page with nothing in it;
    copies: how often the model's table lies in the process's memory."""

    private: int
    empty: int
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
    """How often a piece from the middle of `content` occurs in the process's own memory."""
    middle = len(content) // 3
    wanted = content[middle : middle + SAMPLE]
    count = 0
    with (PROC / str(process) / "mem").open("rb") as memory:
        for line in (PROC / str(process) / "maps").read_text().splitlines():
            span, rights = line.split()[:2]
            if not rights.startswith("rw"):
                continue
            start, end = (int(part, 16) for part in span.split("-"))
            count += _occurrences(memory, start, end, wanted)
    return count


def _occurrences(memory: BinaryIO, start: int, end: int, wanted: bytes) -> int:
    count, tail = 0, b""
    while start < end:
        try:
            memory.seek(start)
            part = memory.read(min(CHUNK, end - start))
        except OSError:  # reserved, not used
            break
        if not part:
            break
        count += (tail + part).count(wanted)
        tail = part[-SAMPLE + 1 :]
        start += len(part)
    return count
