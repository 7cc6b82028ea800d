"""Characters: each scalar value, in several contexts, reads as in the library."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tern_engine import _normalize, _unicode
from tern_engine.tokenizer import Tokenizer

from tests.support import oracle
from tests.support.alphabets import ALPHABETS, MAX_POINT, mixtures, table_boundaries
from tools import generate_unicode

# Marks that survive, of the highest and the lowest class: whatever lets them trade places shows.
HIGH, LOW = "\u08d4", "\U00011446"
# Contexts in which the words show what became of a character, even where the ids are [UNK].
WORD_CONTEXTS = (
    "{c}",
    "A{c}B",
    "{c}{c}",
    "e\u0301{c}\u0323o",
    f"a{HIGH}{{c}}{LOW}b",
    f"{LOW}{{c}}{HIGH} {{c}}{LOW}",
)
ID_CONTEXTS = ("{c}", "A{c}B", "{c}{c}", "un{c}believable {c}s.")


def pick(step: int) -> list[str]:
    """The scalar values and surrogates at the tables' edges, and every step-th of the others."""
    points = {*table_boundaries(), *range(random.Random(step).randrange(step), MAX_POINT, step)}
    return [chr(point) for point in sorted(points)]


def in_parts(texts: Iterable[str], size: int = 20_000) -> Iterator[list[str]]:
    texts = iter(texts)
    while part := list(islice(texts, size)):
        yield part


def differing_words(texts: Iterable[str]) -> list[str]:
    return [text for text in texts if _normalize.words(text) != oracle.words(text)]


def differing_ids(tokenizer: Tokenizer, texts: Iterable[str]) -> list[str]:
    return [
        text
        for part in in_parts(texts)
        for text, expected in zip(part, oracle.ids(part), strict=True)
        if tokenizer.tokenize(text) != expected
    ]


def filled(contexts: Sequence[str], characters: Iterable[str]) -> Iterator[str]:
    return (context.format(c=char) for char in characters for context in contexts)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(oracle.TOKENIZER_JSON, max_length=10**6)


def test_characters_in_words() -> None:
    assert differing_words(filled(WORD_CONTEXTS, pick(97))) == []


def test_characters_in_ids(tokenizer: Tokenizer) -> None:
    assert differing_ids(tokenizer, filled(ID_CONTEXTS, pick(97))) == []


@pytest.mark.full
@pytest.mark.parametrize("context", WORD_CONTEXTS)
def test_every_scalar_value_in_words(context: str, capsys: pytest.CaptureFixture[str]) -> None:
    scalars = generate_unicode.SCALARS
    assert len(scalars) == 1_112_064
    found = differing_words(filled([context], scalars))
    with capsys.disabled():
        print(f"\n{context!a}: words of {len(scalars):,} scalar values, {len(found)} differ")
    assert found == []


@pytest.mark.full
@pytest.mark.parametrize("context", ID_CONTEXTS)
def test_every_scalar_value_in_ids(
    context: str, tokenizer: Tokenizer, capsys: pytest.CaptureFixture[str]
) -> None:
    scalars = generate_unicode.SCALARS
    found = differing_ids(tokenizer, filled([context], scalars))
    with capsys.disabled():
        print(f"\n{context!a}: ids of {len(scalars):,} scalar values, {len(found)} differ")
    assert found == []


def test_every_pair_of_surviving_marks() -> None:
    marks = ALPHABETS["marks"]
    assert len(marks) > 50
    pairs = (f"a{one}{other}{one}" for one in marks for other in marks)
    assert differing_words(pairs) == []


@pytest.mark.parametrize("between", sorted({"", *"\u0301\u034f\u0e31\u200b\0a\u3164\u00ad"}))
def test_marks_that_survive_trade_places_unless_something_stands_between(between: str) -> None:
    # U+034F and U+0E31 are removed too, but of class 0: they hold the order. Cleaned ones do not.
    text = f"x{HIGH}{between}{LOW}"
    held = between in ("\u034f", "\u0e31", "a", "\u3164")
    (word,) = _normalize.words(text)
    assert (word.index(HIGH) < word.index(LOW)) is held
    assert [word] == oracle.words(text)


def test_long_runs_of_marks_are_sorted() -> None:
    chooser = random.Random(5)
    marks = [*ALPHABETS["marks"], "\u0301", "\u0323", "\u0e31"]
    texts = ["".join(chooser.choices(marks, k=size)) for size in range(60) for _ in range(5)]
    assert differing_words(f"x{text}y" for text in texts) == []


@given(st.text(st.sampled_from(ALPHABETS["marks"] + ALPHABETS["barriers"] + list("aé \u0301각"))))
def test_text_full_of_marks(text: str) -> None:
    assert _normalize.words(text) == oracle.words(text)


@given(
    st.text(st.characters(codec=None, exclude_categories=())),
    st.lists(st.integers(0, 40), max_size=8),
)
def test_a_stream_cut_anywhere_gives_the_same_words(text: str, sizes: list[int]) -> None:
    assert_stream(text, sizes)


def test_streams_of_hard_texts() -> None:
    chooser = random.Random(11)
    for text in islice(mixtures(seed=12), 3000):
        assert_stream(text, [chooser.randint(0, 9) for _ in range(8)])


def assert_stream(text: str, sizes: list[int]) -> None:
    stream, found, rest = _normalize.WordStream(), [], text
    for size in sizes:
        found += stream.feed(rest[:size])
        rest = rest[size:]
    found += stream.feed(rest) + stream.finish()
    assert found == _normalize.words(text)
    assert stream.finish() == []


def test_a_stream_keeps_little_of_a_long_word() -> None:
    for unit in ("ab", HIGH, "\u0e31", "\u0301", "x" + HIGH + LOW):
        stream = _normalize.WordStream()
        for _ in range(50):
            assert stream.feed(unit * 100) == []
        assert len(stream._word) + len(stream._marks) <= 2 * (_normalize.MAX_WORD + 1)
        word = stream.finish()
        expected = len(oracle.words(unit * 5000)) == 1
        assert (len(word) == 1 and len(word[0]) > _normalize.MAX_WORD) is expected


def test_the_generated_tables_are_current() -> None:
    text = generate_unicode.render(generate_unicode.Library())
    assert generate_unicode.TARGET.read_text(encoding="utf-8") == text


def test_the_tables_are_small_and_disjoint() -> None:
    assert generate_unicode.TARGET.stat().st_size < 40_000
    dropped, barriers, separate = (
        set(ALPHABETS[name]) for name in ("dropped", "barriers", "separate")
    )
    spaces = set(_unicode.SPACES)
    assert not dropped & barriers
    assert not separate & (dropped | barriers)
    assert not spaces & (dropped | barriers | separate)


def test_the_character_map_stays_bounded() -> None:
    characters = _normalize._CharacterMap()
    everything = "".join(map(chr, range(0x30000)))
    translated = everything.translate(characters)
    assert 0 < len(characters) <= characters.BOUND
    assert translated == everything.translate(characters)
