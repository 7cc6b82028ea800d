"""What the tests of tern-tools share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tern_engine.format import Header
from tern_tools.bulk import run_bulk
from tern_tools.cli import run

from tests.support.bulk import ROOT, ROWS, ROWS_PER_PART, short_text
from tests.support.models import random_tensors


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of texts, some null, in row groups whose rows are no multiple of a part's."""
    path = tmp_path_factory.mktemp("bulk") / "texts.parquet"
    texts = [short_text(i) for i in range(ROWS)]
    table = pa.table({"id": range(ROWS), "text": texts, "tags": [["a"]] * ROWS})
    pq.write_table(table, path, row_group_size=730)
    return path


@pytest.fixture(scope="session")
def alone(source: Path) -> Path:
    """The output of one process."""
    folder = source.parent / "alone"
    summary = run_bulk(source, folder, workers=1, rows_per_part=ROWS_PER_PART)
    assert (summary.rows, summary.parts, summary.made, summary.reused) == (ROWS, 60, 60, 0)
    return folder


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs a command in this process: exit code, stdout, stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(arguments)
        return code, *capsys.readouterr()

    return call


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The float tensors of a small model."""
    path = tmp_path_factory.mktemp("weights") / "weights.npz"
    tensors = random_tensors(Header("int4", 30522, 12, 1, 4, 20, 7, 16), 1)
    np.savez(path, n_heads=4, max_seq_len=16, **tensors)  # type: ignore[arg-type]
    return path


@pytest.fixture
def cli_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: Path) -> Path:
    """The working folder, with the files that docs/cli.md names."""
    notes = tmp_path / "notes"
    (notes / "more").mkdir(parents=True)
    (notes / "refunds.txt").write_text("Opening hours\n\nWe return your money in two weeks.\n")
    (notes / "more" / "ferry.md").write_text("The ferry to the island leaves at nine.\n")
    (notes / "picture.bin").write_bytes(b"\x89PNG\0")
    (tmp_path / "texts.txt").write_text("i was billed twice\n\nthe train is late 🙂\r\n")
    (tmp_path / "questions.csv").write_text('id,question\nx,"who, me?"\ny,"two\nlines"\n')
    (tmp_path / "examples.json").write_text('{"billing": ["my invoice"], "travel": ["a train"]}')
    pq.write_table(pa.table({"text": ["a", None, "b"]}), tmp_path / "texts.parquet")
    (tmp_path / "model.bin").symlink_to(ROOT / "assets" / "model-int4.bin")
    (tmp_path / "weights.npz").symlink_to(weights)
    monkeypatch.chdir(tmp_path)
    return tmp_path
