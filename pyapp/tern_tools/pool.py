"""Several engines for several threads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine import Engine
from tern_engine.errors import DisposedError

from ._check import check

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
        given = texts if isinstance(texts, (str, bytes)) else list(texts)  # refused by the engine
        if isinstance(given, (str, bytes)) or len(given) <= _SHARE:
            return self._share(given)
        if self._disposed:
            raise DisposedError("the pool was disposed, expected a live one: make another")
        shares = [given[at : at + _SHARE] for at in range(0, len(given), _SHARE)]
        return np.concatenate(list(self._threads.map(self._share, shares)))

    def token_count(self, text: str) -> tuple[int, bool]:
        """As an Engine's."""
        with self._borrowed() as engine:
            return engine.token_count(text)

    def dispose(self) -> None:
        """Free all engines once they are done. Any later use raises DisposedError."""
        self._disposed = True
        self._threads.shutdown()
        for engine in self._engines:
            engine.dispose()

    def _share(self, texts: Any) -> NDArray[np.float32]:
        with self._borrowed() as engine:
            vectors: NDArray[np.float32] = engine.embed_batch(texts)
            return vectors
