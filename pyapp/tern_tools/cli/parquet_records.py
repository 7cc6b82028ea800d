"""Parquet files as records, and records as Parquet files. Needs the extra `parquet`."""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import InvalidInputError

from .._check import check
from .._pyarrow import pa
from ..arrow import check_column, embed_table, output_schema
from ..parquet import ParquetWriter, open_parquet, read_batches
from ..search_types import BatchEngine

EMBEDDING = "embedding"
# So many records say which columns there are, and of which types.
_LOOK_AHEAD = 1024
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_BINARY = (
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
    pa.types.is_binary_view,
)


@contextmanager
def parquet_path(source: str) -> Iterator[Path]:
    """The file; for "-" one that holds what stdin gives, as a footer is read first."""
    if source != "-":
        yield Path(source)
        return
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        file.flush()
        yield Path(file.name)


def parquet_records(
    source: str, name: str, columns: Sequence[str] | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a file, with values as JSON has them. Raises InvalidInputError, OSError.

    `columns` are those that are read, if they are there; None is all. Times have microseconds:
    nanoseconds are cut.
    """
    with parquet_path(source) as path:
        with open_parquet(path) as file:
            schema = file.schema_arrow
        wanted = [name for name in schema.names if columns is None or name in columns]
        for field in schema:
            if field.name in wanted:
                _check_json(field, name)
        number = 0
        for batch in read_batches(path, columns=wanted):
            place = f"{name}, rows {number + 1:,} to {number + len(batch):,}"
            found = [
                (field.name, _values(column, f"{place}: {field.name}"))
                for field, column in zip(batch.schema, batch.columns, strict=True)
            ]
            for i in range(len(batch)):
                number += 1
                yield f"{name}, row {number}", {key: _plain(values[i]) for key, values in found}


def embed_parquet(
    source: str, name: str, column: str, file: BinaryIO, engine: BatchEngine
) -> Iterator[int]:
    """A Parquet file with a column of embeddings more; gives the rows done after each batch."""
    with parquet_path(source) as path:
        with open_parquet(path) as opened:
            schema = opened.schema_arrow
        check_column(schema, column, f"{name}: ")
        done = 0
        with closing(
            ParquetWriter(file, output_schema(schema, EMBEDDING, engine), EMBEDDING)
        ) as writer:
            for batch in read_batches(path):
                writer.write(embed_table(batch, column, engine=engine))
                done += len(batch)
                yield done
            writer.finish()


class ParquetTable:
    """Records as rows; the first ones say what the columns are."""

    def __init__(self, file: BinaryIO, engine: BatchEngine) -> None:
        self._file = file
        self._engine = engine
        self._waiting: list[tuple[list[dict[str, Any]], NDArray[np.float32]]] = []
        self._count = 0
        self._schema: Any = None
        self._writer: ParquetWriter | None = None

    def write(self, records: list[dict[str, Any]], vectors: NDArray[np.float32]) -> None:
        self._waiting.append((records, vectors))
        self._count += len(records)
        if self._count >= _LOOK_AHEAD:
            self._flush()

    def finish(self) -> None:
        self._flush()
        assert self._writer is not None
        self._writer.finish()

    def close(self) -> None:
        """Release the writer."""
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        if self._writer is None:
            given = [record for records, _ in self._waiting for record in records]
            names = dict.fromkeys(key for record in given for key in record)
            others = [name for name in names if name != EMBEDDING]
            fields = [(name, _array(given, name, None).type) for name in others]
            with _in_utf8("the name of a column"):
                self._schema = pa.schema(fields or [("text", pa.string())])
            schema = output_schema(self._schema, EMBEDDING, self._engine)
            self._writer = ParquetWriter(self._file, schema, EMBEDDING)
        for records, vectors in self._waiting:
            self._writer.write(self._batch(records, vectors))
        self._waiting = []
        self._count = _LOOK_AHEAD  # from now on nothing waits

    def _batch(self, records: list[dict[str, Any]], vectors: NDArray[np.float32]) -> Any:
        for record in records:
            new = [key for key in record if key != EMBEDDING and key not in self._schema.names]
            first = f"the first {_LOOK_AHEAD:,} have not"
            check(not new, f"a later record has {''.join(new[:1])!r}, which {first}")
        arrays = [_array(records, field.name, field.type) for field in self._schema]
        dim = self._engine.dim
        arrays.append(pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), dim))
        schema = output_schema(self._schema, EMBEDDING, self._engine)
        return pa.record_batch(arrays, schema=schema)


def _array(records: list[dict[str, Any]], name: str, kind: Any) -> Any:
    try:
        with _in_utf8(name):
            return pa.array([record.get(name) for record in records], kind)
    except (pa.ArrowException, OverflowError) as error:
        expected = "one for Parquet" if kind is None else f"{kind} as in the first records"
        found = str(error).split("\n")[0]
        raise InvalidInputError(
            f"{name} has values of several types, expected {expected}: {found}"
        ) from None


@contextmanager
def _in_utf8(what: str) -> Iterator[None]:
    """A lone surrogate in a string, which JSON can have and Parquet cannot, is refused."""
    try:
        yield
    except UnicodeEncodeError:
        raise InvalidInputError(
            f"{what} holds half of a surrogate pair, expected whole characters for Parquet"
        ) from None


def _values(column: Any, place: str) -> list[Any]:
    """An array's values in Python. Raises InvalidInputError for a date that Python has not."""
    kind = _in_microseconds(column.type)
    try:
        if kind != column.type:
            column = column.cast(kind, safe=False)
        values: list[Any] = column.to_pylist()
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"{place} has a value that JSON has not ({error}): expected Parquet or .npy as output"
        ) from None
    return values


def _in_microseconds(kind: Any) -> Any:
    """The type with microseconds in the place of nanoseconds, which Python's own types have not."""
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz) if kind.unit == "ns" else kind
    if pa.types.is_duration(kind):
        return pa.duration("us") if kind.unit == "ns" else kind
    if pa.types.is_time64(kind):
        return pa.time64("us")
    if any(is_type(kind) for is_type in _LISTS):
        return pa.list_(_in_microseconds(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _in_microseconds(field.type)) for field in kind])
    return kind


def _check_json(field: Any, name: str) -> None:
    kind = field.type
    while any(is_type(kind) for is_type in (pa.types.is_dictionary, *_LISTS)):
        kind = kind.value_type
    check(
        not any(is_type(kind) for is_type in _BINARY),
        f"{name}: column {field.name!r} is of type {field.type}, which JSON has not: expected "
        "Parquet or .npy as output",
    )


def _plain(value: Any) -> Any:
    """A Parquet value as JSON has it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (Decimal, timedelta, bytes, UUID)):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
