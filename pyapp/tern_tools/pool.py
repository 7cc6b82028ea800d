"""Several engines for several threads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine import Engine
from tern_engine.batches import encode, encode_stream
from tern_engine.errors import DisposedError, InvalidInputError

from ._check import check, listed

# Texts handed to an engine at a time: few enough to spread a batch evenly.
_SHARE = 32


class EnginePool:
    """Engines of one model, to be used from any number of threads; a drop-in for an Engine.

    An engine computes with the interpreter's lock released, so that as many texts are embedded at
    once as there are engines. Each takes its own copy of the model in memory. Bits do not depend on
    which engine embeds a text.
    """

    def __init__(
        self, size: int | None = None, model: str | os.PathLike[str] | None = None
    ) -> None:
        """`size` engines, by default one a CPU. Raises as Engine.load does."""
        size = (os.cpu_count() or 1) if size is None else size
        check(type(size) is int and size > 0, f"size must be an int of 1 or more, found {size!r}")
        self._engines = [Engine.load(model) for _ in range(size)]
        self._idle: SimpleQueue[Engine] = SimpleQueue()
        for engine in self._engines:
            self._idle.put(engine)
        self._disposed = False
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="tern-engine")
        first = self._engines[0]
        self.dim, self.max_seq_len, self.fingerprint = (
            first.dim,
            first.max_seq_len,
            first.fingerprint,
        )

    def __repr__(self) -> str:
        return f"<EnginePool of {len(self._engines)}: {self._engines[0]!r}>"

    @contextmanager
    def _borrowed(self) -> Iterator[Engine]:
        engine = self._idle.get()
        try:
            yield engine
        finally:
            self._idle.put(engine)

    def embed(self, text: str) -> Any:
        """float32 [dim], by the next engine that is idle."""
        with self._borrowed() as engine:
            return engine.embed(text)

    def embed_batch(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, dim], shared out among the engines."""
        return self._spread(listed(texts, "texts"), _SHARE)

    def encode(
        self,
        sentences: str | Sequence[str],
        batch_size: int = _SHARE,
        show_progress_bar: bool = False,
        num_workers: int = 0,
    ) -> NDArray[np.float32]:
        """As an Engine's, by all engines at once; each gets batch_size texts at a time.

        num_workers must be 0: it computes in threads.
        """
        _check_no_workers(num_workers)
        if isinstance(sentences, str):
            vector: NDArray[np.float32] = self.embed(sentences)
            return vector
        engine, size = self._spreading(batch_size)
        vectors: NDArray[np.float32] = encode(
            engine, listed(sentences, "sentences"), size, show_progress_bar, 0
        )
        return vectors

    def encode_stream(
        self, texts: Iterable[str], batch_size: int = _SHARE, num_workers: int = 0
    ) -> Iterator[Any]:
        """As an Engine's, by all engines at once; each gets batch_size texts at a time.

        num_workers must be 0: it computes in threads.
        """
        _check_no_workers(num_workers)
        engine, size = self._spreading(batch_size)
        return encode_stream(engine, texts, size, 0)

    def tokenize(self, text: str) -> list[int]:
        """As an Engine's."""
        with self._borrowed() as engine:
            return engine.tokenize(text)

    def token_count(self, text: str) -> tuple[int, bool]:
        """As an Engine's."""
        with self._borrowed() as engine:
            return engine.token_count(text)

    def config_summary(self) -> str:
        """As an Engine's."""
        with self._borrowed() as engine:
            return engine.config_summary()

    def dispose(self) -> None:
        """Free all engines once they are done. Any later use raises DisposedError."""
        self._disposed = True
        self._threads.shutdown()
        for engine in self._engines:
            engine.dispose()

    def _spreading(self, batch_size: int) -> tuple[_Spreading, int]:
        """An engine that takes a share for each of the pool's at a time, and how many texts."""
        check(
            type(batch_size) is int and batch_size > 0,
            f"batch_size must be an int of 1 or more, found {batch_size!r}",
        )
        return _Spreading(self, batch_size), batch_size * len(self._engines)

    def _spread(self, texts: Sequence[str], share: int) -> NDArray[np.float32]:
        if len(texts) <= share:
            return self._share(texts)
        if self._disposed:
            raise DisposedError("the pool was disposed, expected a live one: make another")
        shares = [texts[at : at + share] for at in range(0, len(texts), share)]
        return np.concatenate(list(self._threads.map(self._share, shares)))

    def _share(self, texts: Sequence[str]) -> NDArray[np.float32]:
        with self._borrowed() as engine:
            vectors: NDArray[np.float32] = engine.embed_batch(texts)
            return vectors


def _check_no_workers(num_workers: Any) -> None:
    if num_workers != 0:
        raise InvalidInputError(
            field="num_workers", found=repr(num_workers), expected="0 with a pool: it has threads"
        )


class _Spreading:
    """A pool that shares a batch out in shares of a given size."""

    def __init__(self, pool: EnginePool, share: int) -> None:
        self.dim = pool.dim
        self._pool = pool
        self._size = share

    def embed_batch(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        return self._pool._spread(texts, self._size)
