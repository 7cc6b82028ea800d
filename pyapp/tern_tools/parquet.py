"""Parquet files read in runs of rows and written row group by row group, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from tern_engine.errors import InvalidInputError

from ._pyarrow import pa, pq

# Rows are read, embedded and passed on in batches of so many, or fewer where they are large.
BATCH_ROWS = 256
_BATCH_BYTES = 4 << 20
# A row group is written once its columns take so many bytes.
_GROUP_BYTES = 16 << 20
_READ_BYTES = 1 << 20


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """A pq.ParquetFile that reads page by page. Raises InvalidInputError, OSError."""
    with path.open("rb") as source:
        with _reading(path):
            file = pq.ParquetFile(source, buffer_size=_READ_BYTES, pre_buffer=False)
        with file:
            yield file


def read_batches(
    path: Path,
    start: int = 0,
    stop: int | None = None,
    columns: Sequence[str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Iterator[Any]:
    """Rows start to stop of a file as record batches. Raises InvalidInputError, OSError."""
    with open_parquet(path) as file:
        groups = []
        largest = 1  # bytes of a row, on average over a group
        before = first = 0  # rows before a group; before the first that is read
        for group in range(file.num_row_groups):
            about = file.metadata.row_group(group)
            rows = about.num_rows
            if before + rows <= start:
                first = before + rows
            elif stop is None or before < stop:
                groups.append(group)
                largest = max(largest, about.total_byte_size // max(rows, 1))
            before += rows
        batch_rows = max(1, min(batch_rows, _BATCH_BYTES // largest))
        batches = file.iter_batches(batch_rows, groups, columns, use_threads=False)
        at = first
        while True:
            with _reading(path):
                batch = next(batches, None)
            if batch is None or (stop is not None and at >= stop):
                return
            skip = max(start - at, 0)
            end = len(batch) if stop is None else min(stop - at, len(batch))
            at += len(batch)
            if skip < end:
                yield batch.slice(skip, end - skip)


class ParquetWriter:
    """Record batches into a Parquet file. The bytes depend on them and on pyarrow's version."""

    def __init__(self, file: BinaryIO, schema: Any, vectors: str) -> None:
        """`vectors` is the column of embeddings, which no dictionary or statistics help.

        Raises InvalidInputError for a schema that Parquet cannot have.
        """
        others = [name for name in schema.names if name != vectors]
        self._schema = schema
        with _writing():
            self._writer = pq.ParquetWriter(
                file, schema, compression="zstd", use_dictionary=others, write_statistics=others
            )
        self._waiting: list[Any] = []
        self._bytes = 0

    def write(self, batch: Any) -> None:
        self._waiting.append(batch)
        self._bytes += batch.nbytes
        if self._bytes >= _GROUP_BYTES:
            self._flush()

    def finish(self) -> None:
        """Write what is waiting, and the footer."""
        self._flush()
        self._writer.close()

    def close(self) -> None:
        """Release what a writer that is not to be finished holds; the file is of no use."""
        with suppress(OSError, pa.ArrowException):
            self._writer.close()

    def _flush(self) -> None:
        if self._waiting:
            table = pa.Table.from_batches(self._waiting, self._schema)
            with _writing():
                self._writer.write_table(table, row_group_size=len(table))
        self._waiting, self._bytes = [], 0


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What pyarrow raises for a file that is not Parquet, as an InvalidInputError."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        # Of an errno: the system's.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InvalidInputError(f"{path} is not a whole Parquet file: {_said(error)}") from None


@contextmanager
def _writing() -> Iterator[None]:
    """What pyarrow raises for what Parquet cannot hold, as an InvalidInputError."""
    try:
        yield
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"the columns cannot be written as Parquet: {_said(error)}"
        ) from None


def _said(error: Exception) -> str:
    return str(error).split("\n")[0]
