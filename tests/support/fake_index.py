"""What the tests of the search index share: the golden cases, and an engine without a model."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden" / "index"


def cases(name: str) -> list[Any]:
    loaded: list[Any] = json.loads((GOLDEN / name).read_text("utf-8"))
    assert loaded
    return loaded


def floats(digits: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(digits), "<f4")


def count_words(text: str) -> tuple[int, bool]:
    """The tokens of passages.json and of the golden files."""
    return 2 + sum(math.ceil(len(word) / 8) for word in text.split()), False


class FakeEngine:
    """Vectors by text, from a table, else by chance with the text as the seed."""

    def __init__(self, dim: int = 7, max_seq_len: int = 12) -> None:
        self.dim = dim
        self.max_seq_len = max_seq_len
        self.fingerprint = "00112233445566778899aabbccddeeff" * 2
        self.known: dict[str, np.ndarray] = {}
        self.embedded: list[str] = []

    def embed(self, text: str) -> np.ndarray:
        if text in self.known:
            return self.known[text]
        seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        vector = np.random.default_rng(list(seed)).standard_normal(self.dim)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def embed_batch(self, texts: Any) -> np.ndarray:
        self.embedded += texts
        return np.stack([self.embed(text) for text in texts])

    token_count = staticmethod(count_words)


def document(id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "text": text, **more}
