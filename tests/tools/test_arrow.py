"""Arrow in, Arrow out."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import tern_engine
from tern_engine.errors import InvalidInputError
from tern_tools import EnginePool
from tern_tools.arrow import FINGERPRINT, embed_batches, embed_table, process_engine

TEXTS = ["i was billed twice", None, "", "the train is late 🙂", None, "a"]


@pytest.fixture(scope="module")
def engine() -> Iterator[tern_engine.Engine]:
    engine = tern_engine.Engine.load()
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def expected(engine: tern_engine.Engine) -> list[list[float] | None]:
    return [None if text is None else engine.embed(text).tolist() for text in TEXTS]


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    ids=str,
)
@pytest.mark.parametrize("batch_size", [1, 2, 256])
def test_a_table_in_chunks(
    expected: list, engine: tern_engine.Engine, kind: object, batch_size: int
) -> None:
    texts = pa.chunked_array([pa.array(TEXTS[:4]), pa.array([], pa.string()), pa.array(TEXTS[4:])])
    table = pa.table({"id": range(6), "said": texts.cast(kind)}, metadata={"a": "b"})
    found = embed_table(table, "said", engine=engine, batch_size=batch_size)
    assert isinstance(found, pa.Table)
    assert found.drop_columns("embedding").equals(table)
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 384)
    assert found["embedding"].to_pylist() == expected
    fingerprint = engine.fingerprint.encode()
    assert found.schema.metadata == {b"a": b"b", FINGERPRINT: fingerprint}
    found.validate(full=True)


def test_a_record_batch_a_slice_and_a_table_of_no_rows(expected: list, engine: object) -> None:
    batch = pa.record_batch({"text": TEXTS}).slice(1, 3)
    found = embed_table(batch, engine=engine)
    assert isinstance(found, pa.RecordBatch) and found["text"].to_pylist() == TEXTS[1:4]
    assert found["embedding"].to_pylist() == expected[1:4]
    for empty in (batch.slice(0, 0), pa.table({"text": pa.array([], pa.string())})):
        found = embed_table(empty, engine=engine)
        assert len(found) == 0 and found.schema.names == ["text", "embedding"]


def test_lists_of_any_size(expected: list, engine: object) -> None:
    batch = pa.record_batch({"text": TEXTS})
    found = embed_table(batch, engine=engine, as_list=True)
    (same,) = embed_batches([batch], as_list=True)
    assert found.schema.field("embedding").type == pa.list_(pa.float32())
    assert found["embedding"].to_pylist() == expected and same.equals(found)


def test_a_column_of_the_name_gives_its_place(expected: list, engine: object) -> None:
    table = pa.table({"v": range(6), "text": TEXTS, "id": range(6)})
    found = embed_table(table, output="v", engine=engine)
    assert found.schema.names == ["v", "text", "id"]
    assert found["v"].to_pylist() == expected
    assert embed_table(found, output="v", engine=engine).equals(found)
    assert embed_table(table, output="text", engine=engine)["text"].to_pylist() == expected


def test_a_pool_gives_the_same_and_so_does_the_process_s_engine(expected: list) -> None:
    table = pa.table({"text": TEXTS * 20})
    pool = EnginePool(2)
    assert embed_table(table, engine=pool)["embedding"].to_pylist() == expected * 20
    pool.dispose()
    assert embed_table(table)["embedding"].to_pylist() == expected * 20
    assert process_engine() is process_engine()


def test_a_stream_takes_one_batch_at_a_time(expected: list) -> None:
    taken = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal taken
        for text in TEXTS:
            taken += 1
            yield pa.record_batch({"text": pa.array([text], pa.string())})

    stream = embed_batches(batches(), output="v")
    first = next(stream)
    assert taken == 1 and first["v"].to_pylist() == expected[:1]
    assert [batch["v"][0].as_py() for batch in stream] == expected[1:]


NUMBERS = pa.table({"id": [1], "text": ["a"]})


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (NUMBERS, {"column": "x"}, "no column 'x'; there are: id, text"),
        (NUMBERS, {"column": "id"}, "column 'id' is of type int64, expected strings"),
        (pa.table([["a"], ["b"]], ["text", "text"]), {}, "2 columns are named 'text'"),
        (pa.table([["a"], [1], [2]], ["text", "e", "e"]), {"output": "e"}, "2 columns are named"),
        (NUMBERS, {"batch_size": 0}, "batch_size is 0"),
        (NUMBERS, {"engine": 5}, "engine must be an Engine"),
        (["a"], {}, "must be a pyarrow Table or RecordBatch, found list"),
    ],
)
def test_refused(engine: object, table: object, options: dict, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        embed_table(table, **{"engine": engine, **options})


def test_pyarrow_is_imported_by_nothing_else(tmp_path: Path) -> None:
    """Nor is Dask; without them an import says what to install."""
    code = """
import sys
import tern_tools, tern_tools.cli
assert not {"pyarrow", "dask", "distributed"} & set(sys.modules)
sys.modules["pyarrow"] = None
import tern_tools.arrow
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "pyapp")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.endswith("Arrow and Parquet need pyarrow: pip install 'tern-tools[parquet]'")


def test_floats_are_the_engine_s_to_the_bit(engine: tern_engine.Engine) -> None:
    column = embed_table(pa.table({"text": ["a", "b c"]}), engine=engine)["embedding"]
    floats = column.combine_chunks().values.to_numpy().reshape(2, 384)
    assert np.array_equal(floats.view(np.uint32), engine.embed_batch(["a", "b c"]).view(np.uint32))
