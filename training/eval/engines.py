"""Vectors from the shipped engine, in a few processes of the build that a model file needs.

The build is copied first and held against the reference, so that a score is of one engine, and of a
right one, whatever is built anew meanwhile.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from tern_engine.format import read_header
from tern_tools.models.verify import SAMPLE, compare

from training.pack.engine_process import EngineProcess, package_path

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
        """BuildMissingError where the build of the file's table format was not made, SystemExit
        where it computes other vectors than the reference."""
        self.model = model
        table = table_format(model.read_bytes())
        built = package_path(table) / "tern_engine"
        with ExitStack() as held:
            package = Path(held.enter_context(TemporaryDirectory()))
            skipped = shutil.ignore_patterns("__pycache__", "*.c", "*.h")
            shutil.copytree(built, package / "tern_engine", ignore=skipped)
            kernel = (package / "tern_engine" / "data" / "kernels.wasm").read_bytes()
            self.host = f"tern-engine, kernel {hashlib.sha256(kernel).hexdigest()[:12]}"
            self._processes = [
                held.enter_context(EngineProcess(table, package)) for _ in range(workers)
            ]
            self._threads = held.enter_context(ThreadPoolExecutor(workers))
            found = compare(self._processes[0], model, SAMPLE)
            if not found.within_tolerance:
                raise SystemExit(f"the {table} build is not the reference: {found}")
            self._held = held.pop_all()

    def __enter__(self) -> Engines:
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

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
