"""tern-engine bulk in several processes: killed, cut off, without room; and its memory."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tern_engine.errors import WorkerFailedError
from tern_tools.bulk import Summary, run, run_bulk

from tests.support.bulk import ENVIRONMENT, ROOT, ROWS_PER_PART, contents, parts
from tests.support.cli import on_a_full_disk


def start(source: Path, out: Path, workers: int) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tern_tools", "bulk", str(source), str(out), "--json"]
    line += ["--workers", str(workers), "--rows-per-part", str(ROWS_PER_PART)]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        line, env=ENVIRONMENT, text=True, stdout=pipe, stderr=pipe, start_new_session=True
    )


def wait_for(condition: Callable[[], object]) -> None:
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about in a minute")


def workers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children(recursive=True)
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]


def test_two_workers_that_are_both_killed(source: Path, alone: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(source, out, workers=2)
    wait_for(lambda: len(parts(out)) >= 4)
    killed = workers_of(process)
    assert len(killed) == 2
    for worker in killed:
        worker.kill()
    assert len(parts(out)) < 50  # in the middle
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert json.loads(stdout)["made"] == 60
    assert contents(out) == contents(alone)


def test_a_run_that_is_killed_is_taken_up(source: Path, alone: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = start(source, out, workers=2)
    wait_for(lambda: len(parts(out)) >= 4)
    workers = workers_of(process)
    process.kill()
    process.communicate()
    # They go with it, or they would go on writing.
    wait_for(lambda: not any(w.is_running() and w.status() != "zombie" for w in workers))
    there = len(parts(out))
    assert 4 <= there < 50 and not (out / "_SUCCESS").exists()
    process = start(source, out, workers=1)
    summary = Summary(**json.loads(process.communicate()[0]))
    assert (process.returncode, summary.reused, summary.made) == (0, there, 60 - there)
    assert contents(out) == contents(alone)


def test_ctrl_c_ends_all_without_noise(source: Path, tmp_path: Path) -> None:
    """A terminal sends it to every process of the command."""
    out = tmp_path / "out"
    process = start(source, out, workers=2)
    wait_for(lambda: len(parts(out)) >= 2)
    workers = workers_of(process)
    os.killpg(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate()
    assert (process.returncode, stdout, stderr.strip()) == (130, "", "")
    assert not any(worker.is_running() and worker.status() != "zombie" for worker in workers)
    assert {path.name for path in out.iterdir()} == {
        "_manifest.json",
        *(p.name for p in parts(out)),
    }


def test_the_benchmark_runs() -> None:
    line = [sys.executable, "-m", "bench.bulk", "--texts", "1"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("8,000 texts, ")
    assert done.stdout.endswith("6 files, the same bytes: True\n")


def test_a_part_that_ends_its_workers(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    # Sent by value: workers do not know this module.
    monkeypatch.setattr(run, "try_part", lambda job, part: __import__("os")._exit(1))
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        pytest.raises(WorkerFailedError, match="a part ended several workers"),
    ):
        run_bulk(source, tmp_path / "out", workers=2, rows_per_part=3000)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_manifest.json"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk(source: Path, tmp_path: Path, workers: int) -> None:
    out = str(tmp_path / "out")
    how = ("--workers", str(workers), "--rows-per-part", "3000")
    said = on_a_full_disk(100, "bulk", str(source), out, *how)
    assert re.search(r"part-0000[01]\.parquet: File too large", said)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_manifest.json"]


def test_a_scheduler_that_is_not_there(source: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "tern_tools", "bulk", str(source), str(tmp_path / "out")]
    done = subprocess.run(
        [*line, "--scheduler", "tcp://127.0.0.1:9"],
        env={**ENVIRONMENT, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 4 and done.stderr.count("\n") == 1
    assert "tcp://127.0.0.1:9" in done.stderr


def test_without_dask(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a", "b"]}), tmp_path / "few.parquet")
    script = "import sys; sys.modules['distributed'] = None\n"
    script += "from tern_tools.cli import main; main()"
    for workers, rows, code in (("2", "1", 2), ("1", "1", 0), ("2", "2", 0)):
        out = str(tmp_path / f"without-{workers}-{rows}")
        done = subprocess.run(
            [sys.executable, "-c", script, "bulk", "few.parquet", out, "--workers", workers,
             "--rows-per-part", rows],
            cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code
        assert (code == 0) != ("pip install 'tern-tools[bulk]'" in done.stderr)
        assert Path(out).exists() == (code == 0)
        assert done.stderr.count("\n") == 1


# --- memory

PEAK = """
import sys
from pathlib import Path
from tern_tools.cli import run
assert run(sys.argv[1:]) == 0
(line,) = (each for each in Path("/proc/self/status").open() if each.startswith("VmHWM"))
print(int(line.split()[1]) >> 10)
"""


def peak_of(*arguments: str) -> int:
    """MiB that a command took at most."""
    line = [sys.executable, "-c", PEAK, *arguments]
    done = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """160 MiB, most of them in one row group, take no more than 40 do, but for a few pages."""
    schema = pa.schema([("text", pa.string()), ("blob", pa.binary())])
    some = np.random.default_rng(1)

    def write(path: Path, groups: list[int]) -> None:
        # Pages of a row or two: pyarrow looks at their size once in so many rows.
        with pq.ParquetWriter(path, schema, write_batch_size=2, compression="none") as writer:
            for rows in groups:
                blobs = [some.bytes(256 << 10) for _ in range(rows)]
                table = pa.table({"text": ["a text"] * rows, "blob": blobs}, schema=schema)
                writer.write_table(table, row_group_size=rows)

    write(tmp_path / "small.parquet", [160])
    write(tmp_path / "large.parquet", [480] + [20] * 8)
    assert (tmp_path / "large.parquet").stat().st_size >= 160 << 20
    small, large = (
        peak_of("bulk", str(tmp_path / f"{name}.parquet"), str(tmp_path / name), "--workers", "1")
        for name in ("small", "large")
    )
    assert large < small + 40
