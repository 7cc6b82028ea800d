"""The command bulk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from . import options
from .outputs import Progress, note, print_json


@click.command(short_help="Embed Parquet by several processes.")
@click.argument("source")
@click.argument("out")
@options.column
@click.option(
    "--output-column", default="embedding", show_default=True, help="Where the embeddings go."
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Write only this column beside it; repeatable. Default: all.",
)
@click.option("--rows-per-part", type=click.IntRange(1), help="Rows of a file.  [default: 8192]")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Processes on this machine; 1 is this one. Default: one a CPU.",
)
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler: its workers instead.")
@options.model
@options.progress
@options.as_json
def bulk(
    source: str,
    out: str,
    column: str,
    output_column: str,
    keep: Sequence[str],
    rows_per_part: int | None,
    workers: int | None,
    scheduler: str | None,
    model: str | None,
    progress: bool | None,
    as_json: bool,
) -> None:
    """Embed a column of Parquet files into the folder OUT, by several processes or machines.

    SOURCE is a Parquet file, or a folder of them. A run that was ended is taken up by the same
    command: what is in OUT already is not made again.
    """
    from ..bulk import ROWS_PER_PART, run_bulk

    bar = Progress("bulk", progress)
    try:
        with options.named(model):
            summary = run_bulk(
                source,
                out,
                column=column,
                output=output_column,
                keep=keep or None,
                rows_per_part=rows_per_part or ROWS_PER_PART,
                model=model,
                workers=workers,
                scheduler=scheduler,
                on_progress=bar,
            )
    finally:
        bar.end()
    if as_json:
        print_json(asdict(summary))
    else:
        files = f"{summary.parts:,} file{'s' * (summary.parts != 1)}"
        made = f"{summary.made:,} of them made in {summary.seconds:.1f} s"
        note(f"{summary.rows:,} rows in {files}, {made}")
