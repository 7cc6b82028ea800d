"""docs/bulk.md: its commands and its Python run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tern_tools.arrow import embed_table
from tern_tools.bulk import run_bulk

from tests.support.bulk import ENVIRONMENT, ROOT
from tests.support.free_port import free_port

PAGE = (ROOT / "docs" / "bulk.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(found, body) for found, body in FENCE.findall(PAGE)]
TEXTS = pa.table({"id": range(10), "text": [None if i == 4 else f"text {i}" for i in range(10)]})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(TEXTS, "texts.parquet")
    return tmp_path


def python(word: str) -> str:
    (body,) = (body for found, body in BLOCKS if found == "python" and word in body)
    return body


def run(script: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(folder: str) -> None:
    found = pq.read_table(folder).sort_by("id")
    assert found["text"].to_pylist() == TEXTS["text"].to_pylist()
    assert found["embedding"].to_pylist() == embed_table(TEXTS)["embedding"].to_pylist()


def test_commands(folder: Path) -> None:
    """As they stand in the page, but for the port."""
    port = str(free_port())
    lines = [line for found, body in BLOCKS if found == "sh" for line in body.splitlines()]
    modules = {"tern-engine": "tern_tools", "dask": "dask"}
    commands = []
    for line in lines:
        name, *arguments = line.replace("8786", port).split()
        commands.append([sys.executable, "-m", modules[name], *arguments])
    local, scheduler, worker, remote = commands
    subprocess.run(local, env=ENVIRONMENT, check=True, capture_output=True)
    check("vectors")
    shutil.rmtree("vectors")
    started = [
        subprocess.Popen([*each, "--no-dashboard"], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
        for each in (scheduler, worker)
    ]
    try:
        for _ in range(2):  # a part that is gone is made again by the same scheduler
            done = subprocess.run(
                [*remote, "--progress", "--json"],
                env={**ENVIRONMENT, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "60s"},
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, done.stderr
            assert done.stderr.endswith("\nbulk 10/10\n")
            assert json.loads(done.stdout)["made"] == 1
            Path("vectors/part-00000.parquet").rename("made.parquet")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
    run_bulk("texts.parquet", "alone", workers=1, keep=["id"])
    assert Path("made.parquet").read_bytes() == Path("alone/part-00000.parquet").read_bytes()
    assert pq.read_schema("made.parquet").names == ["id", "embedding"]


def test_python(folder: Path) -> None:
    Path("bulk.py").write_text(python("run_bulk"))
    done = subprocess.run(
        [sys.executable, "bulk.py"], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "10 3\n"), done.stderr
    check("vectors-python")
    assert run(python("import pyarrow as pa")) == "fixed_size_list<item: float>[384]\n"


def test_ray(folder: Path) -> None:
    run(python("import ray"))
    check("vectors-ray")


@pytest.mark.full
def test_spark(folder: Path) -> None:
    run(python("pyspark"), PYSPARK_PYTHON=sys.executable)
    check("vectors-spark")
