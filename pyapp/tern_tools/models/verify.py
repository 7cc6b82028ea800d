"""The engine against the reference, over texts.

The ids are the engine's own; what is compared is the arithmetic from ids to vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tern_engine import Engine

from .engine_process import EngineProcess
from .unpack import UnpackedModel

LEAST_COSINE = 0.9999
LARGEST_DELTA = 2e-3

# Short and long, one topic and many, other scripts, digits, punctuation, nothing at all.
SAMPLE = (
    "",
    "a",
    "good morning",
    "how do i renew a passport that has expired",
    "The committee postponed its decision until the auditors had reported.",
    "Preheat the oven to 200 degrees, then roast the carrots for 35 minutes.",
    "SELECT name, COUNT(*) FROM users GROUP BY name HAVING COUNT(*) > 1;",
    "wo ist der nächste Bahnhof",
    "Où se trouve la bibliothèque municipale ?",
    "Пушкин родился в Москве",
    "東京の天気はどうですか",
    "ΟΔΟΣ",
    "🙂 see you at 7:30 pm!!! #tonight @home",
    "3.14159 2.71828 1.41421 1.61803",
    "[MASK] token",
    "the " * 64,
    "Rain fell on the harbour all night. " * 12,
    "an old map of the coast, drawn by hand and coloured in blue and green, " * 20,
)


@dataclass(frozen=True)
class Comparison:
    """Worst figures over the texts, and which text they came from (an index)."""

    texts: int
    cosine: float
    cosine_at: int
    delta: float
    delta_at: int

    @property
    def within_tolerance(self) -> bool:
        # A NaN compares as false, and so fails.
        return self.cosine >= LEAST_COSINE and self.delta <= LARGEST_DELTA

    def __str__(self) -> str:
        return (
            f"{self.texts} texts: worst cosine {self.cosine:.8f} (text {self.cosine_at}), "
            f"worst |delta| {self.delta:.2e} (text {self.delta_at})"
        )


class Embedder(Protocol):
    """What compare() needs: the ids of each text and the vectors, float32 [n, output_dim]."""

    def embed(
        self, model: Path, texts: Sequence[str], /
    ) -> tuple[list[list[int]], NDArray[np.float32]]: ...


class ThisEngine:
    """The installed engine, in this process."""

    def embed(
        self, model: Path, texts: Sequence[str]
    ) -> tuple[list[list[int]], NDArray[np.float32]]:
        """As EngineProcess.embed, one text at a time. Raises as Engine.load does."""
        engine = Engine.load(model)
        try:
            ids = [list(engine.tokenize(text)) for text in texts]
            return ids, np.stack([engine.embed(text) for text in texts])
        finally:
            engine.dispose()


def compare(engine: Embedder, path: Path, texts: Sequence[str]) -> Comparison:
    """Embed the texts with the engine and with the reference, and compare. At least one text."""
    reference = UnpackedModel.from_file(path)
    ids, vectors = engine.embed(path, texts)
    wanted = np.array([reference.forward(each) for each in ids], dtype=np.float64)
    found = vectors.astype(np.float64)
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(wanted, axis=1)
    cosines = np.sum(found * wanted, axis=1) / lengths
    deltas = np.abs(found - wanted).max(axis=1)
    # argmin and argmax take a NaN for the extreme, which is what is wanted here.
    worst, largest = int(np.argmin(cosines)), int(np.argmax(deltas))
    return Comparison(len(texts), float(cosines[worst]), worst, float(deltas[largest]), largest)


def verify(path: Path, texts: Sequence[str] = SAMPLE, package: Path | None = None) -> Comparison:
    """compare() with the installed engine, or with the one that lies in the folder `package`.

    Raises ModelError for a damaged model or one of another table format, OSError.
    """
    if package is None:
        return compare(ThisEngine(), path, texts)
    with EngineProcess(package) as engine:
        return compare(engine, path, texts)
