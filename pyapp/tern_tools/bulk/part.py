"""What a worker does: one part, from rows of the input to a file of the output."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from tern_engine import Engine
from tern_engine.errors import InvalidInputError, TernError

from .._check import check
from .._pyarrow import pa
from .._whole_file import whole_file
from ..arrow import embed_table, output_schema
from ..parquet import ParquetWriter, open_parquet, read_batches
from .plan import Job, Part

_threads = threading.local()


def make_part(job: Job, part: Part) -> int:
    """Write a part's file and return its rows.

    Raises InvalidInputError, also where this machine has another model than the run, OSError.
    """
    engine = _engine(job.model)
    check(
        engine.fingerprint == job.fingerprint,
        f"a worker has the model {engine.fingerprint}, expected {job.fingerprint}",
    )
    path = Path(job.out, part.name)
    with open_parquet(Path(part.file)) as file:
        read = file.schema_arrow
    schema = job_schema(job, read, engine)
    rows = 0
    try:
        with (
            whole_file(path) as file,
            closing(ParquetWriter(file, schema, job.output)) as writer,
        ):
            for batch in _embedded(job, part, engine):
                writer.write(batch.select(schema.names))
                rows += len(batch)
            check(rows == part.stop - part.start, f"{part.file} has fewer rows than before")
            writer.finish()
    except FileNotFoundError:
        # Another run on this folder may have come to its end and have removed what it left.
        if not is_made(path, part):
            raise
    return rows


def try_part(job: Job, part: Part) -> int | OSError | TernError:
    """make_part on a worker: its error is a result, which Dask neither logs nor tries again."""
    try:
        return make_part(job, part)
    except (OSError, TernError) as error:
        return error


def is_made(path: Path, part: Part) -> bool:
    """Whether a part's file is there and whole."""
    try:
        with open_parquet(path) as file:
            return bool(file.metadata.num_rows == part.stop - part.start)
    except (FileNotFoundError, InvalidInputError):
        return False


def job_schema(job: Job, read: Any, engine: Engine) -> Any:
    """The columns that are written, of those that the input has."""
    kept = pa.schema([field for field in read if field.name in job.kept], read.metadata)
    return output_schema(kept, job.output, engine)


def _embedded(job: Job, part: Part, engine: Engine) -> Iterator[Any]:
    for batch in read_batches(Path(part.file), part.start, part.stop, job.columns):
        yield embed_table(batch, job.column, output=job.output, engine=engine)


def _engine(model: str | None) -> Engine:
    """This thread's engine: a worker has one for all its parts."""
    engines: dict[str | None, Engine] = _threads.__dict__.setdefault("engines", {})
    if model not in engines:
        engines[model] = Engine.load(model)
        atexit.register(engines[model].dispose)  # before wasmtime is taken apart
    return engines[model]
