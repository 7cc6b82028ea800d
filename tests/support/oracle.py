"""What the `tokenizers` library answers: the right value for every test of the tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import tokenizers

TOKENIZER_JSON = Path(__file__).resolve().parents[2] / "assets" / "tokenizer.json"

SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@cache
def _library() -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_file(str(TOKENIZER_JSON))


def readable(text: str) -> str:
    """The text with lone surrogates as U+FFFD, as the library takes no others."""
    return text.translate(SURROGATES)


def ids(texts: Sequence[str], max_length: int | None = None) -> list[list[int]]:
    """The ids of each text, the library truncating to max_length where one is given."""
    library = _library()
    if max_length is None:
        library.no_truncation()
    else:
        library.enable_truncation(max_length)
    encodings = library.encode_batch_fast([readable(text) for text in texts])
    return [encoding.ids for encoding in encodings]


def words(text: str) -> list[str]:
    """The words of a text without special tokens, before they become pieces."""
    library = _library()
    assert library.normalizer and library.pre_tokenizer
    normal = library.normalizer.normalize_str(readable(text))
    return [word for word, _ in library.pre_tokenizer.pre_tokenize_str(normal)]
