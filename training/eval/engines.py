"""Vectors from the shipped engine, in a few processes of the build that a model file needs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray
from tern_engine.format import read_header

from training.pack.engine_process import EngineProcess

# A request loads the model anew, so it should be worth it; the last one should not be waited for.
REQUEST_CHARACTERS = 200_000


def table_format(model: bytes) -> str:
    """The table format in a model file's header. ModelError where the header is refused."""
    header = read_header(model, len(model), build=None, vocab_size=None)
    return header.embedding_format


def slices(texts: Sequence[str], characters: int) -> list[list[int]]:
    """Indices of `texts`, the longest first, in groups of about so many characters."""
    groups: list[list[int]] = [[]]
    held = 0
    for i in sorted(range(len(texts)), key=lambda i: (-len(texts[i]), i)):
        size = min(len(texts[i]), 1_000) + 20  # what is beyond 128 tokens costs little
        if groups[-1] and held + size > characters:
            groups.append([])
            held = 0
        groups[-1].append(i)
        held += size
    return [group for group in groups if group]


class Engines:
    """A context manager; `encode` gives unit vectors [n, output_dim], each text computed once."""

    def __init__(self, model: Path, workers: int = 2) -> None:
        """BuildMissingError where the build of the file's table format was not made."""
        self.model = model
        table = table_format(model.read_bytes())
        self._processes = [EngineProcess(table) for _ in range(workers)]
        self._threads = ThreadPoolExecutor(workers)

    def __enter__(self) -> Engines:
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.shutdown()
        for process in self._processes:
            process.close()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """EngineRefused with the engine's message where it refuses the model."""
        distinct = list(dict.fromkeys(texts))
        free: SimpleQueue[EngineProcess] = SimpleQueue()
        for process in self._processes:
            free.put(process)

        def ask(group: list[int]) -> NDArray[np.float32]:
            process = free.get()
            try:
                return process.embed(self.model, [distinct[i] for i in group])[1]
            finally:
                free.put(process)

        groups = slices(distinct, REQUEST_CHARACTERS)
        parts = list(self._threads.map(ask, groups))
        rows = np.empty((len(distinct), parts[0].shape[1]), np.float32)
        for group, part in zip(groups, parts, strict=True):
            rows[group] = part
        place = {text: i for i, text in enumerate(distinct)}
        found: NDArray[np.float32] = rows[[place[text] for text in texts]]
        return found
