"""Arrow in, Arrow out: a column of texts gets a column of embeddings beside it.

embed_table takes a whole table or batch, which is what Ray Data's map_batches gives; embed_batches
a stream of batches, as Spark's mapInArrow does. All need pyarrow (the extra
`parquet`), which nothing else in tern_tools imports.
"""

from __future__ import annotations

import atexit
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import numpy as np
from tern_engine import Engine

from ._check import check, check_engine
from ._pyarrow import pa, pc
from .search_types import BatchEngine

# Where a schema's metadata says which model its embeddings are of.
FINGERPRINT = b"tern_engine.fingerprint"

Columns = TypeVar("Columns", bound=Any)  # pa.Table or pa.RecordBatch


@cache
def process_engine(model: str | None = None) -> Engine:
    """This process's engine of a model file, made at the first call: a worker has one for all its
    tasks. Raises as Engine.load does."""
    engine = Engine.load(model)
    atexit.register(engine.dispose)  # before wasmtime is taken apart
    return engine


def embed_table(
    table: Columns,
    column: str = "text",
    *,
    output: str = "embedding",
    engine: BatchEngine | None = None,
    batch_size: int = 256,
    as_list: bool = False,
) -> Columns:
    """A table or record batch with a column more, fixed_size_list<float32>[dim].

    column      of strings (string, large_string, string_view, or a dictionary of them); a null
                text has a null embedding
    output      the new column, which takes the place of one of that name
    engine      by default process_engine()
    batch_size  texts handed to the engine at a time
    as_list     list<float32> instead, for what knows no lists of a fixed size, as Spark

    The schema's metadata names the model. Raises InvalidInputError.
    """
    check(
        isinstance(table, (pa.Table, pa.RecordBatch)),
        f"table must be a pyarrow Table or RecordBatch, found {type(table).__name__}",
    )
    check(type(batch_size) is int and batch_size > 0, f"batch_size is {batch_size!r}, expected 1+")
    check_column(table.schema, column)
    found: BatchEngine = process_engine() if engine is None else engine
    check_engine(found, BatchEngine)
    texts = table.column(column)
    if isinstance(table, pa.Table):
        chunks = [_embed(chunk, found, batch_size) for chunk in texts.chunks]
        vectors: Any = pa.chunked_array(chunks, vector_type(found.dim))
    else:
        vectors = _embed(texts, found, batch_size)
    schema = output_schema(table.schema, output, found, as_list)
    vectors = vectors.cast(schema.field(output).type)
    arrays = _placed(table.columns, table.schema, output, vectors)
    result: Columns = type(table).from_arrays(arrays, schema=schema)
    return result


def embed_batches(
    batches: Iterable[Any],
    column: str = "text",
    *,
    output: str = "embedding",
    model: str | None = None,
    batch_size: int = 256,
    as_list: bool = False,
) -> Iterator[Any]:
    """embed_table of each record batch, one after the other, with this process's engine."""
    engine = process_engine(model)
    for batch in batches:
        yield embed_table(
            batch, column, output=output, engine=engine, batch_size=batch_size, as_list=as_list
        )


def vector_type(dim: int) -> Any:
    """The Arrow type of an embedding."""
    return pa.list_(pa.float32(), dim)


def output_schema(schema: Any, output: str, engine: BatchEngine, as_list: bool = False) -> Any:
    """What embed_table makes of a schema."""
    count = schema.names.count(output)
    check(count < 2, f"{count} columns are named {output!r}, expected one or none")
    kind = pa.list_(pa.float32()) if as_list else vector_type(engine.dim)
    fields = _placed(schema, schema, output, pa.field(output, kind))
    metadata = {**(schema.metadata or {}), FINGERPRINT: engine.fingerprint.encode()}
    return pa.schema(fields, metadata)


def check_column(schema: Any, column: str, place: str = "") -> None:
    """InvalidInputError unless the schema has one such column, and it is of strings.

    `place` goes in front of the message.
    """
    count = schema.names.count(column)
    there = ", ".join(schema.names) or "none"
    check(count > 0, f"{place}no column {column!r}; there are: {there}")
    check(count == 1, f"{place}{count} columns are named {column!r}, expected one")
    found = schema.field(column).type
    inner = found.value_type if pa.types.is_dictionary(found) else found
    strings = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    check(
        any(is_type(inner) for is_type in strings),
        f"{place}column {column!r} is of type {found}, expected strings",
    )


def _placed(items: Iterable[Any], schema: Any, name: str, item: Any) -> list[Any]:
    """A list of what each column has, with that of the column `name` set, or added at the end."""
    result = list(items)
    at = schema.get_field_index(name)  # -1 where there is none
    return [*result, item] if at < 0 else [*result[:at], item, *result[at + 1 :]]


def _embed(texts: Any, engine: BatchEngine, batch_size: int) -> Any:
    """The embeddings of an array of strings."""
    dim = engine.dim
    vectors = np.zeros((len(texts), dim), np.float32)
    nulls = np.asarray(pc.is_null(texts))
    there = np.flatnonzero(~nulls)
    for start in range(0, len(there), batch_size):
        rows = there[start : start + batch_size]
        part = texts.slice(rows[0], rows[-1] - rows[0] + 1).to_pylist()
        given = [text for text in part if text is not None]
        vectors[rows] = engine.embed_batch(given)
    mask = pa.array(nulls) if len(there) < len(texts) else None
    return pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), dim, mask=mask)
