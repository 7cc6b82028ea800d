"""Texts with a known number of tokens."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import cache
from pathlib import Path

TOKENIZER = Path(__file__).resolve().parents[2] / "assets" / "tokenizer.json"


@cache
def words() -> list[str]:
    """Plain lower-case words that the tokenizer keeps whole."""
    vocabulary = json.loads(TOKENIZER.read_text("utf-8"))["model"]["vocab"]
    return sorted(
        word for word in vocabulary if word.isascii() and word.isalpha() and word.islower()
    )


def random_texts(lengths: Iterable[int], seed: int) -> list[str]:
    """One text of random words for each number of tokens, [CLS] and [SEP] counted in: >= 2."""
    chooser = random.Random(seed)
    return [" ".join(chooser.choices(words(), k=length - 2)) for length in lengths]
