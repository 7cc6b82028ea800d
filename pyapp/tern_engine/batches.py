"""encode() and encode_stream(): many texts, in batches, in this process or in several.

Processes are CPython's; their modules are imported where they are used, since Pyodide has none.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from .errors import InvalidInputError, WorkerFailedError
from .texts import items

# Batches that each process has ahead of the one it works on.
_AHEAD = 2


class Embedder(Protocol):
    """What this module needs of an engine; with several processes it is pickled, too."""

    @property
    def dim(self) -> int: ...
    def embed_batch(self, texts: Sequence[str], /) -> Any: ...


def encode_stream(
    engine: Embedder, texts: Iterable[str], batch_size: int, num_workers: int
) -> Iterator[Any]:
    """See Engine.encode_stream."""
    return (vector for rows in _batches(engine, texts, batch_size, num_workers) for vector in rows)


def encode(
    engine: Embedder, texts: Sequence[str], batch_size: int, show: bool, num_workers: int
) -> Any:
    """See Engine.encode: float32 [len(texts), dim], or a list of array('f') without numpy."""
    batches = _batches(engine, texts, batch_size, num_workers)
    if show:
        batches = _counted(batches, len(texts))
    try:
        import numpy
    except ModuleNotFoundError:
        return [vector for batch in batches for vector in batch]
    vectors = numpy.empty((len(texts), engine.dim), numpy.float32)
    at = 0
    for batch in batches:
        vectors[at : at + len(batch)] = batch
        at += len(batch)
    return vectors


def _batches(
    engine: Embedder, texts: Iterable[str], batch_size: int, num_workers: int
) -> Iterator[Any]:
    """The arguments checked at once; then embed_batch() of each batch, in order."""
    _check_int("batch_size", batch_size, 1)
    _check_int("num_workers", num_workers, 0)
    taken = items(texts, "an iterable of str")
    groups = iter(lambda: list(islice(taken, batch_size)), [])
    if num_workers == 0:
        return map(engine.embed_batch, groups)
    if sys.platform == "emscripten":
        raise InvalidInputError(
            field="num_workers", found=num_workers, expected="0: Pyodide starts no processes"
        )
    from pickle import dumps

    return _by_processes(dumps(engine), groups, num_workers)


def _check_int(name: str, value: Any, least: int) -> None:
    if type(value) is not int or value < least:
        raise InvalidInputError(
            field=name, found=repr(value), expected=f"an int of {least} or more"
        )


def _by_processes(engine: bytes, groups: Iterator[list[str]], num_workers: int) -> Iterator[Any]:
    from collections import deque
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # Spawned, not forked: this process may have threads and a running kernel.
    pool = ProcessPoolExecutor(num_workers, get_context("spawn"), _start, (engine,))
    waiting: deque[Any] = deque()
    try:
        for group in groups:
            waiting.append(pool.submit(_work, group))
            if len(waiting) >= num_workers * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise WorkerFailedError(
            "a process of encode() ended by itself, expected it to embed texts; a script that "
            'uses num_workers must start its work under `if __name__ == "__main__":`'
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


# In a process of the pool: the engine as pickled, then itself.
_pickled = b""
_engine: Any = None


def _start(engine: bytes) -> None:
    global _pickled
    _pickled = engine


def _work(texts: list[str]) -> Any:
    # Not loaded in _start: an error there would be lost.
    global _engine
    if _engine is None:
        from pickle import loads

        _engine = loads(_pickled)
    return _engine.embed_batch(texts)


def _counted(batches: Iterator[Any], total: int) -> Iterator[Any]:
    """The batches, with a progress bar on stderr."""
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        bar: Any = _Line(total)
    else:
        bar = tqdm(total=total, desc="encode", unit=" texts")
    try:
        for batch in batches:
            yield batch
            bar.update(len(batch))
    finally:
        bar.close()


class _Line:
    """A progress line where tqdm is not installed."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0

    def update(self, count: int) -> None:
        self._done += count
        print(f"\rencode {self._done}/{self._total}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
