"""The command embed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import click
from tern_engine import Engine

from ..pool import EnginePool
from ..search_types import BatchEngine
from . import options
from .inputs import Record, batches, form_of, member, name_of, read_records
from .outputs import JsonLines, NumpyArray, Progress, note, open_output

_OUTPUTS = ("jsonl", "npy", "parquet")


@click.command(short_help="Embed lines, JSON Lines, CSV or Parquet.")
@click.argument("source", default="-")
@click.option("-o", "--output", default="-", metavar="FILE", help="Default: stdout.")
@click.option(
    "--output-format", type=click.Choice(_OUTPUTS), help="Default: by the file's name, else jsonl."
)
@click.option("--batch-size", type=click.IntRange(1), default=64, show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep what is done beside the output when this is ended, and take it up the next time.",
)
@options.form
@options.column
@options.model
@options.progress
def embed(
    source: str,
    output: str,
    output_format: str | None,
    batch_size: int,
    threads: int,
    resume: bool,
    form: str | None,
    column: str,
    model: str | None,
    progress: bool | None,
) -> None:
    """Embed each line, JSON object, CSV or Parquet row of SOURCE, by default of stdin."""
    suffix = Path(output).suffix.lower().removeprefix(".")
    output_format = output_format or (suffix if suffix in _OUTPUTS else "jsonl")
    form = form or form_of(source)
    if resume and (output == "-" or (Path(output).exists() and not Path(output).is_file())):
        raise click.UsageError("--resume needs a file as --output")
    as_arrow = form == output_format == "parquet"
    # The first one before the engine: a wrong file is told at once.
    records = iter(()) if as_arrow else _records(source, form, column, output_format)
    bar = Progress("embed", progress)
    try:
        with (
            _engine(model, threads, output if resume else None) as engine,
            open_output(output) as f,
        ):
            if as_arrow:
                from .parquet_records import embed_parquet

                for done in embed_parquet(source, name_of(source), column, f, engine):
                    bar(done)
            else:
                with closing(_writer(f, output_format, engine)) as writer:
                    for done in _write(records, column, batch_size * threads, engine, writer):
                        bar(done)
    finally:
        bar.end()


def _records(source: str, form: str, column: str, output_format: str) -> Iterator[Record]:
    records = read_records(source, form, [column] if output_format == "npy" else None)
    first = list(islice(records, 1))
    for record in first:
        member(record, column)
    return chain(first, records)


@contextmanager
def _engine(model: str | None, threads: int, output: str | None) -> Iterator[BatchEngine]:
    """An engine, or one for each thread; with what was kept beside the output, if that is given."""
    with options.named(model):
        engine: BatchEngine = Engine.load(model) if threads == 1 else EnginePool(threads, model)
    if output is None:
        yield engine
        return
    from .resume import ResumedEngine

    target = Path(output)
    resumed = ResumedEngine(engine, target.with_name(f".{target.name}.resume"))
    complete = False
    try:
        yield resumed
        complete = True
    finally:
        resumed.close(remove=complete)
    if resumed.taken_up:
        note(f"took up {resumed.taken_up:,} texts of a run that was ended")


def _writer(file: BinaryIO, output_format: str, engine: BatchEngine) -> Any:
    if output_format == "parquet":
        from .parquet_records import ParquetTable

        return ParquetTable(file, engine)
    return JsonLines(file) if output_format == "jsonl" else NumpyArray(file, engine.dim)


def _write(
    records: Iterable[Record], column: str, size: int, engine: BatchEngine, writer: Any
) -> Iterator[int]:
    """Embed records in batches and write them; gives how many are done."""
    done = 0
    for batch in batches(records, size):
        texts = [member(record, column) for record in batch]
        writer.write([members for _, members in batch], engine.embed_batch(texts))
        done += len(batch)
        yield done
    writer.finish()
