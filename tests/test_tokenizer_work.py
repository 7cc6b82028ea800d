"""Work and memory: linear in the text, early to stop, and bounded."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tern_engine import _normalize
from tern_engine import tokenizer as module
from tern_engine.tokenizer import Tokenizer

from tests.support import oracle

PACKAGE = str(Path(module.__file__).parent)

# Repeated to any length. Each is the bad case of some way to write a tokenizer.
SHAPES = {
    "one word": "a",
    "words": "the unbelievable embeddings ",
    "punctuation": "!?",
    "brackets": "[",
    "special tokens": "[MASK]x",
    "no special token": "[MASK",
    "ideographs": "野",
    "syllables": "각",
    "spaces": " \u3000",
    "dropped marks": "\u0301",
    "barriers": "\u0e31",
    "surviving marks": "\u08d4\U00011446",
    "marks far apart": "\u08d4" + "\u0301" * 499 + "\U00011446" + "\u0301" * 499,
    "controls": "\0\x1f\ud800",
    "greedy match that fails at the end": "a" * 99 + "☃ ",
    "greedy match with short pieces": "q" * 99 + " ",
    "long unknown words": "☃" * 100 + " ",
    "just too long words": "a" * 101 + ",",
}


class Work:
    """Counts what the tokenizer does: lines of its code run, and characters translated.

    A line handles at most a window of text, so their number bounds the work.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        # Tables are decoded, and characters looked up in them, once a process: not counted.
        _normalize.words("".join(SHAPES.values()))
        translate = _normalize._translate

        def counting(text: str) -> str:
            self.count += len(text)
            assert len(text) <= module.WINDOW
            return translate(text)

        monkeypatch.setattr(_normalize, "_translate", counting)

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event == "line":
            self.count += 1
        return self._trace

    def of(self, tokenizer: Tokenizer, text: str) -> int:
        self.count = 0
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            tokenizer.encode(text)
        finally:
            sys.settrace(before)
        return self.count


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    return Work(monkeypatch)


@pytest.fixture(scope="module")
def vocabulary() -> list[str]:
    return list(Tokenizer.from_file(oracle.TOKENIZER_JSON)._first)


def repeated(shape: str, size: int) -> str:
    return (SHAPES[shape] * (size // len(SHAPES[shape]) + 1))[:size]


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_text_is_twice_the_work(shape: str, work: Work, vocabulary: list[str]) -> None:
    """With room for every piece, so that nothing stops the tokenizer early."""
    sizes = [8_000, 16_000, 32_000]
    counts = [
        work.of(Tokenizer(vocabulary, max_length=10**9), repeated(shape, size)) for size in sizes
    ]
    assert counts[0] > 0
    assert counts[1] <= 2.2 * counts[0]
    assert counts[2] <= 2.2 * counts[1]
    # No more steps for a character than tries of the longest piece, and a few around them.
    assert counts[2] <= 32_000 * 4 * 18


@pytest.mark.parametrize("shape", ["words", "punctuation", "ideographs", "long unknown words"])
def test_what_is_cut_off_is_not_read(shape: str, work: Work, vocabulary: list[str]) -> None:
    short, long = repeated(shape, 20_000), repeated(shape, 10_000_000)
    counts = [work.of(Tokenizer(vocabulary), text) for text in (short, long)]
    assert counts[0] == counts[1]
    assert Tokenizer(vocabulary).encode(long)[1]


def test_the_window_that_fills_the_ids_is_not_read_to_its_end(
    work: Work, vocabulary: list[str]
) -> None:
    # A chunk within a window is tokenized whole. Of a longer one, a window is split into words, but
    # only the words that fit are looked up.
    whole, long = (work.of(Tokenizer(vocabulary), "野" * size) for size in (1000, 1_000_000))
    assert long < whole * 3 / 4


SIZES = [100_000, pytest.param(1_000_000, marks=pytest.mark.full)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("shape", SHAPES)
def test_texts_of_any_size(shape: str, size: int, vocabulary: list[str]) -> None:
    text = repeated(shape, size)
    assert Tokenizer(vocabulary).tokenize(text) == oracle.ids([text], 128)[0]


@pytest.mark.parametrize("tail", [" ", "\u0301", "\0", "\u200b ", "\ufffd"])
def test_what_leaves_no_piece_is_not_counted_as_cut(tail: str, vocabulary: list[str]) -> None:
    tokenizer = Tokenizer(vocabulary)
    full = "word " * 126
    assert tokenizer.encode(full + tail * 100_000)[1] is False
    assert tokenizer.encode(full + tail * 100_000 + "x")[1] is True


def chunks_of(length: int, count: int) -> Iterator[str]:
    for index in range(count):
        yield f"{index:x}".rjust(length, chr(0xAC01 + index % 999))


@pytest.mark.parametrize("length", [5, Tokenizer.CACHE_CHUNK, Tokenizer.CACHE_CHUNK + 1, 900])
def test_remembered_chunks_are_bounded(length: int, vocabulary: list[str]) -> None:
    tokenizer = Tokenizer(vocabulary)
    short = length <= tokenizer.CACHE_CHUNK
    tracemalloc.start()
    try:
        for chunk in chunks_of(length, 3 * tokenizer.CACHE_CHUNKS if short else 1000):
            tokenizer.tokenize(chunk)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    remembered = [*tokenizer._recent, *tokenizer._older]
    assert len(tokenizer._recent) <= tokenizer.CACHE_CHUNKS
    assert len(tokenizer._older) <= tokenizer.CACHE_CHUNKS
    assert all(len(chunk) <= tokenizer.CACHE_CHUNK for chunk in remembered)
    assert (len(remembered) > tokenizer.CACHE_CHUNKS) is short
    # The character map is in it, too.
    assert kept < 16_000_000


def test_a_remembered_chunk_is_not_tokenized_again(vocabulary: list[str], work: Work) -> None:
    tokenizer = Tokenizer(vocabulary)
    text = "Remembered, even wörds of sëveral pieces: unbelievably!"
    first, second = work.of(tokenizer, text), work.of(tokenizer, text)
    assert second < first / 3
    # A chunk without pieces, too.
    assert work.of(tokenizer, "\u0301") > work.of(tokenizer, "\u0301")


def test_a_chunk_in_use_outlives_a_full_memory(vocabulary: list[str]) -> None:
    tokenizer = Tokenizer(vocabulary)
    for chunk in chunks_of(8, 10_000):
        tokenizer.tokenize(f"often {chunk}")
    assert "often" in tokenizer._recent or "often" in tokenizer._older


def test_answers_are_the_callers_own(vocabulary: list[str]) -> None:
    tokenizer = Tokenizer(vocabulary)
    first = tokenizer.tokenize("a b")
    first.append(1)
    first[1] = 99
    assert tokenizer.tokenize("a b") == oracle.ids(["a b"])[0]
