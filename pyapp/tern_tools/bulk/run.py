"""A bulk run from its input to its complete output, here or on workers."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tern_engine import Engine
from tern_engine.errors import WorkerFailedError

from .._check import check
from .._whole_file import SUFFIX, whole_file
from ..canonical_json import canonical_json
from .part import is_made, make_part, try_part
from .plan import (
    COMPLETE,
    MANIFEST,
    ROWS_PER_PART,
    Job,
    Part,
    check_manifest,
    cut_parts,
    make_manifest,
    read_inputs,
)

Progress = Callable[[int, int], None]

# Parts given to a cluster at a time, for each of its threads: the next ones wait there.
_AHEAD = 3

# Dask's processes look after themselves fifty times a second, which takes some CPU, and of parts
# that take seconds there is nothing to see at that rate. Nobody looks at a profile.
_CALM = {
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.profile.enabled": False,
}


@dataclass(frozen=True)
class Summary:
    """What a run did.

    rows, parts   of the whole output
    made, reused  parts made by this run, and found there
    seconds       wall time of making parts
    """

    rows: int
    parts: int
    made: int
    reused: int
    seconds: float


def run_bulk(
    source: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    column: str = "text",
    output: str = "embedding",
    keep: Sequence[str] | None = None,
    rows_per_part: int = ROWS_PER_PART,
    model: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    on_progress: Progress | None = None,
) -> Summary:
    """Embed a column of Parquet files into a folder of Parquet files, part-00000.parquet and on.

    source         a Parquet file, or a folder of them with one schema
    out            a new or empty folder, or that of an earlier run of the same: its parts are kept
    column         of strings; a null text has a null embedding
    output         the column of embeddings, fixed_size_list<float32>[dim]
    keep           the columns that are written beside it, by default all
    rows_per_part  rows of a file at most, and what a lost worker loses at most
    model          a .bin instead of the build's own
    workers        processes on this machine, by default one a CPU; this process alone does what is
                   one part, or one worker's
    scheduler      address of a Dask scheduler, instead of `workers`; its workers have tern_tools,
                   the same engine build, and source and out under the same paths
    on_progress    gets rows done and of all, as parts end

    Raises InvalidInputError before anything is written, WorkerFailedError when one part has ended
    several workers, OSError.
    """
    check(
        type(rows_per_part) is int and rows_per_part > 0,
        f"rows_per_part is {rows_per_part!r}, expected an int of 1 or more",
    )
    check(workers is None or scheduler is None, "workers and scheduler exclude each other")
    count = workers if workers is not None else os.cpu_count() or 1
    check(type(count) is int and count > 0, f"workers is {workers!r}, expected an int of 1 or more")

    inputs, schema = read_inputs(Path(source), column)
    for name in keep or ():
        check(name in schema.names, f"no column {name!r}; there are: {', '.join(schema.names)}")
    kept = [name for name in schema.names if name != output and (keep is None or name in keep)]
    folder = Path(out).resolve()
    job = Job(
        out=str(folder),
        columns=tuple(name for name in schema.names if name in {*kept, column}),
        column=column,
        kept=tuple(kept),
        output=output,
        model=None if model is None else str(Path(model).resolve()),
        fingerprint=_fingerprint(model),
    )
    parts = cut_parts(inputs, rows_per_part)
    manifest = make_manifest(inputs, job, rows_per_part)
    begun = check_manifest(folder, manifest)
    waiting = [part for part in parts if not is_made(folder / part.name, part)]
    alone = scheduler is None and min(count, len(waiting)) <= 1
    if waiting and not alone:
        _check_dask()
    if not begun:
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(folder / MANIFEST) as file:
            file.write(canonical_json(manifest, "manifest").encode())
    total = sum(part.stop - part.start for part in parts)
    done = total - sum(part.stop - part.start for part in waiting)
    start = time.perf_counter()
    if on_progress is not None:
        on_progress(done, total)
    if waiting:
        made = (make_part(job, part) for part in waiting)
        for rows in made if alone else _made(job, waiting, count, scheduler):
            done += rows
            if on_progress is not None:
                on_progress(done, total)
    seconds = time.perf_counter() - start
    for each in inputs:
        each.check_unchanged()
    (folder / COMPLETE).touch()
    _remove_left(folder)
    return Summary(total, len(parts), len(waiting), len(parts) - len(waiting), seconds)


def _made(job: Job, parts: list[Part], workers: int, scheduler: str | None) -> Iterator[int]:
    """Make the parts on workers, and give the rows of each as it ends."""
    try:
        with _client(min(workers, len(parts)), scheduler) as client:
            yield from _made_by(client, job, parts)
    except BaseException:
        if scheduler is None:  # else its workers may still be at work
            _remove_left(Path(job.out))
        raise


def _made_by(client: Any, job: Job, parts: list[Part]) -> Iterator[int]:
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    rest = iter(parts)
    ended = as_completed()
    open_parts = 0

    def give() -> None:
        nonlocal open_parts
        limit = _AHEAD * max(1, sum(client.nthreads().values()))
        for part in rest if open_parts < limit else ():
            ended.add(client.submit(try_part, job, part))
            open_parts += 1
            if open_parts == limit:
                return

    give()
    for future in ended:
        open_parts -= 1
        try:
            rows = future.result()
        except KilledWorker as error:
            raise WorkerFailedError(f"a part ended several workers: {error}") from None
        if isinstance(rows, Exception):
            raise rows
        future.release()
        give()
        yield rows


@contextmanager
def _client(workers: int, scheduler: str | None) -> Iterator[Any]:
    """A client of the scheduler at an address, or of workers of this machine."""
    import dask
    from distributed import Client, LocalCluster

    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
        return
    with (
        dask.config.set(_CALM),
        # Parts are bounded in memory by themselves: no worker is to be paused for it.
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            preload=["tern_tools.bulk.local_worker"],
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _check_dask() -> None:
    """ModuleNotFoundError where it is not installed, before anything is written."""
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "several processes need Dask: pip install 'tern-tools[bulk]', or take one worker",
            name="distributed",
        ) from error


def _remove_left(folder: Path) -> None:
    """Remove what workers that were killed had begun."""
    for left in folder.glob(f".part-*{SUFFIX}"):
        left.unlink(missing_ok=True)


def _fingerprint(model: str | None) -> str:
    engine = Engine.load(model)
    try:
        return engine.fingerprint
    finally:
        engine.dispose()
