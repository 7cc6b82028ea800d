"""The engine against the reference, over texts.

The ids are the engine's own; what is compared is the arithmetic from ids to vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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


def compare(engine: EngineProcess, path: Path, texts: Sequence[str]) -> Comparison:
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


def verify(path: Path, texts: Sequence[str] = SAMPLE) -> Comparison:
    """compare() with a process of the model's own format."""
    with EngineProcess(UnpackedModel.from_file(path).header.embedding_format) as engine:
        return compare(engine, path, texts)
