"""What the tests of tern-tools share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tern_tools.bulk import run_bulk
from tern_tools.cli import run

from tests.support.bulk import ROWS, ROWS_PER_PART, short_text


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
