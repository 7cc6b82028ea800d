"""The teacher's vectors of evaluation texts, kept so that they are computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.distill.encode import save_arrays
from training.distill.teacher import Teacher

Vectors = NDArray[np.float32]


class CachedTeacher:
    """Texts → float32 unit vectors [n, 384]; one file a list of texts, named by its SHA-256."""

    def __init__(
        self, folder: Path, make: Callable[[], Callable[[Sequence[str]], Vectors]] | None = None
    ) -> None:
        """`make` gives the encoder when a list is new; the teacher in float32 by default."""
        self.folder = folder
        self._make = make or (lambda: Teacher().encode)
        self._encode: Callable[[Sequence[str]], Vectors] | None = None

    def encode(self, texts: Sequence[str]) -> Vectors:
        """From the file of this list of texts, or computed and kept."""
        mark = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:24]
        path = self.folder / f"teacher-{mark}.npz"
        if path.exists():
            with np.load(path) as held:
                kept: Vectors = held["vectors"]
                return kept
        if self._encode is None:
            self._encode = self._make()
        vectors = self._encode(texts)
        self.folder.mkdir(parents=True, exist_ok=True)
        save_arrays(path, vectors=vectors)
        return vectors
