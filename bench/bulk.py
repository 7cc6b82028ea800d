"""Measures tern-engine bulk: python -m bench.bulk [--texts 200000].

Texts of 2 to 10 words, made from the committed bench/sentences.txt, go through one process, then
through two Dask workers. Printed are rates from the first part to the last, by the clock and, as
others may be at work on the machine, by the CPU time of all the command's processes; the peak of
memory of each; and whether the outputs are the same. Where two workers do as much for their CPU
time as one, they are twice as fast on two free CPUs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent
_STEP = 9973  # prime: texts repeat as late as can be
_ROWS_PER_PART = 2000


@dataclass(frozen=True)
class Measured:
    """Seconds of the whole command; texts a second by the clock and by CPU time; MiB of each
    process at most."""

    seconds: float
    rate: float
    cpu_rate: float
    mib: list[int]


def write_texts(path: Path, count: int) -> None:
    """A Parquet file of so many texts, in row groups of 20,000."""
    words = (ROOT / "bench" / "sentences.txt").read_text("utf-8").split()
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, count, 20_000):
            rows = range(start, min(start + 20_000, count))
            texts = [_text(words, i) for i in rows]
            writer.write_table(pa.table({"id": rows, "text": texts}, schema=schema))


def measure(source: Path, out: Path, workers: int) -> Measured:
    """Run the command, and watch its processes."""
    line = [sys.executable, "-m", "tern_tools", "bulk", str(source), str(out)]
    line += ["--workers", str(workers), "--rows-per-part", str(_ROWS_PER_PART)]
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "pyapp")}
    process = subprocess.Popen(line, env=environment)
    peaks: dict[int, int] = {}
    cpu: dict[int, float] = {}
    begun: tuple[int, float] | None = None  # parts and CPU time when the first ones were there
    while process.poll() is None:
        for each in _family(process.pid):
            try:
                peaks[each.pid] = max(peaks.get(each.pid, 0), each.memory_info().rss)
                times = each.cpu_times()
                cpu[each.pid] = times.user + times.system
            except psutil.NoSuchProcess:
                continue
        done = len(list(out.glob("part-*")))
        if begun is None and done:
            begun = done, sum(cpu.values())
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"bulk ended with {process.returncode}")
    ends = sorted(path.stat().st_mtime for path in out.glob("part-*"))
    rate = (len(ends) - 1) * _ROWS_PER_PART / (ends[-1] - ends[0])
    first, spent = begun or (0, 0.0)
    cpu_rate = (len(ends) - first) * _ROWS_PER_PART / (sum(cpu.values()) - spent)
    mib = sorted((peak >> 20 for peak in peaks.values()), reverse=True)
    return Measured(time.perf_counter() - start, rate, cpu_rate, mib)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, default=200_000)
    count = max(4 * _ROWS_PER_PART, options.parse_args().texts)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "texts.parquet"
        write_texts(source, count)
        print(f"{count:,} texts, {source.stat().st_size / 1e6:.1f} MB of Parquet")
        found = {workers: measure(source, folder / str(workers), workers) for workers in (1, 2)}
        one, two = ({p.name: _sha256(p) for p in (folder / str(n)).iterdir()} for n in (1, 2))
    for workers, each in found.items():
        print(
            f"{workers} at work: {each.seconds:.0f} s, "
            f"{each.rate:,.0f} texts/s, {each.cpu_rate:,.0f} texts/s of CPU time; "
            f"MiB of its processes at most: {', '.join(map(str, each.mib))}"
        )
    clock, cpu = found[2].rate / found[1].rate, found[2].cpu_rate / found[1].cpu_rate
    print(f"two workers to one: {clock:.2f} by the clock, {cpu:.2f} by CPU time")
    print(f"{len(one)} files, the same bytes: {one == two}")
    if one != two:
        raise SystemExit(1)


def _family(pid: int) -> list[psutil.Process]:
    try:
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _text(words: list[str], i: int) -> str:
    start = i * _STEP % (len(words) - 10)
    return " ".join(words[start : start + 2 + i % 9])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


if __name__ == "__main__":
    main()
