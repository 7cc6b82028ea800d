"""Texts: random and real ones have the ids that the library gives them."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tern_engine import tokenizer as module
from tern_engine._normalize import SPECIAL_TOKENS
from tern_engine.tokenizer import Tokenizer

from tests.support import oracle
from tests.support.alphabets import ALPHABETS, mixtures
from tools.generate_golden_tokens import TEXTS

LENGTHS = (3, 4, 9, 128, 10**6)


@pytest.fixture(scope="module")
def tokenizers() -> dict[int, Tokenizer]:
    made = {size: Tokenizer.from_file(oracle.TOKENIZER_JSON, size) for size in LENGTHS}
    # So small that chunks are forgotten and looked up again all the time.
    made[9].CACHE_CHUNKS = 5
    return made


def truncated(ids: list[int], max_length: int) -> tuple[list[int], bool]:
    """The library's truncation, checked against itself in test_the_library_truncates_like_this."""
    if len(ids) <= max_length:
        return ids, False
    return [*ids[: max_length - 1], ids[-1]], True


def assert_same(tokenizers: dict[int, Tokenizer], texts: list[str]) -> None:
    for text, expected in zip(texts, oracle.ids(texts), strict=True):
        for size, tokenizer in tokenizers.items():
            assert tokenizer.encode(text) == truncated(expected, size), (ascii(text), size)


def in_parts(texts: Iterable[str], size: int = 5000) -> Iterator[list[str]]:
    texts = iter(texts)
    while part := list(islice(texts, size)):
        yield part


anything = st.text(st.characters(codec=None, exclude_categories=()))
units = st.one_of(*(st.sampled_from(alphabet) for alphabet in ALPHABETS.values()))
specials = st.sampled_from(ALPHABETS["special"] + ["x", "\0", "\u0301", "\ud800"])
punctuation = st.sampled_from(ALPHABETS["separate"] + ALPHABETS["ascii"])
marks = st.sampled_from(ALPHABETS["marks"] + ALPHABETS["expanded"] + ALPHABETS["letters"])


@given(st.lists(anything, max_size=20))
def test_any_text(tokenizers: dict[int, Tokenizer], texts: list[str]) -> None:
    assert_same(tokenizers, texts)


@pytest.mark.parametrize(
    "alphabet", [units, specials, punctuation, marks], ids=["units", "special", "punct", "marks"]
)
def test_text_of_an_alphabet(
    tokenizers: dict[int, Tokenizer], alphabet: st.SearchStrategy[str]
) -> None:
    @given(st.lists(st.lists(alphabet, max_size=40).map("".join), max_size=10))
    def check(texts: list[str]) -> None:
        assert_same(tokenizers, texts)

    check()


def test_fuzz(tokenizers: dict[int, Tokenizer]) -> None:
    for part in in_parts(islice(mixtures(seed=1), 20_000)):
        assert_same(tokenizers, part)


@pytest.mark.full
def test_fuzz_a_million(
    tokenizers: dict[int, Tokenizer], capsys: pytest.CaptureFixture[str]
) -> None:
    count = 0
    for part in in_parts(islice(mixtures(seed=2), 1_000_000)):
        assert_same(tokenizers, part)
        count += len(part)
    with capsys.disabled():
        print(f"\n{count:,} texts at {len(tokenizers)} maximal lengths, 0 differ")
    assert count == 1_000_000


@pytest.mark.parametrize("window", [7, 8, 13, 40])
def test_texts_longer_than_a_window(
    tokenizers: dict[int, Tokenizer], monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    monkeypatch.setattr(module, "WINDOW", window)
    for part in in_parts(islice(mixtures(seed=window, longest=80), 2500)):
        assert_same(tokenizers, part)


def test_long_texts(tokenizers: dict[int, Tokenizer]) -> None:
    chooser = random.Random(3)
    source = mixtures(seed=4)
    for _ in range(60):
        glue = chooser.choice(["", " ", ",", "[MASK]", "\u0301"])
        pieces = list(islice(source, chooser.randint(100, 400)))
        assert_same(tokenizers, [glue.join(pieces), glue.join(pieces).replace(" ", "")])


def test_special_tokens_across_the_edge_of_a_window(tokenizers: dict[int, Tokenizer]) -> None:
    texts = [
        filler * (module.WINDOW - before) + token + "b"
        for token in SPECIAL_TOKENS
        for filler in ("a", "[", "野", ",")
        for before in range(9)
    ]
    assert_same(tokenizers, texts)


@pytest.mark.parametrize("max_length", [3, 4, 9, 128])
def test_the_library_truncates_like_this(max_length: int) -> None:
    texts = [*islice(mixtures(seed=6), 300), *TEXTS.values()]
    for whole, short in zip(oracle.ids(texts), oracle.ids(texts, max_length), strict=True):
        assert truncated(whole, max_length)[0] == short


def test_real_sentences(tokenizers: dict[int, Tokenizer]) -> None:
    assert_same(tokenizers, list(TEXTS.values()))


def test_source_code(tokenizers: dict[int, Tokenizer]) -> None:
    """The Python library's own files: by line and whole."""
    files = sorted(Path(os.__file__).parent.glob("*.py"))[:40]
    assert len(files) == 40
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert_same(tokenizers, [text, *text.splitlines()[:150]])
