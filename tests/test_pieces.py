"""The vocabulary of which no more is made than is used."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from tern_engine import Engine
from tern_engine import engine as engine_module
from tern_engine import pieces as module
from tern_engine._data import read_data
from tern_engine._normalize import SPECIAL_TOKENS
from tern_engine.errors import InvalidInputError
from tern_engine.pieces import Pieces
from tern_engine.tokenizer import Tokenizer

SMALL = "\n".join([*SPECIAL_TOKENS, "a", "##bc", "no [CLS]", "##é"])


def assert_same(pieces: Pieces, tokenizer: Tokenizer) -> None:
    """What a load takes of the one is what the other has."""
    assert pieces.text().decode() == "\n".join(tokenizer.pieces)
    assert list(pieces.tokenizer().pieces) == list(tokenizer.pieces)
    found, expected = vars(pieces), vars(tokenizer)
    for name in ("longest", "unknown", "start", "end"):
        assert found[name] == expected[name], name
    assert pieces.size == tokenizer.vocab_size


def test_of_the_build() -> None:
    content = read_data("vocab.txt")
    assert_same(Pieces(lambda: content), Tokenizer.from_vocab(content.decode()))


@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\n" + "z" * 99, "\n" + "z" * 101])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_ends_of_lines(line_end: str, end: str) -> None:
    text = (SMALL + end).replace("\n", line_end)
    assert_same(Pieces(lambda: text.encode()), Tokenizer.from_vocab(text))


@pytest.mark.parametrize("token", SPECIAL_TOKENS)
@pytest.mark.parametrize("instead", ["[OTHER]", "", "not {token}", "{token}s"])
def test_a_special_token_that_is_missing(token: str, instead: str) -> None:
    text = SMALL.replace(token, instead.format(token=token), 1)
    for make in (lambda: Pieces(text.encode), lambda: Tokenizer.from_vocab(text)):
        with pytest.raises(InvalidInputError, match="is missing, expected a BERT") as caught:
            make()
        assert f"vocabulary: {token} " in str(caught.value)


def test_special_tokens_at_both_ends() -> None:
    text = "\n".join(["[CLS]", "x", "[PAD]", "[UNK]", "[MASK]", "[SEP]"])
    pieces = Pieces(text.encode)
    assert (pieces.start, pieces.unknown, pieces.end) == (0, 3, 5)


def test_a_piece_that_is_there_twice_is_found_with_the_tokenizer() -> None:
    pieces = Pieces(f"{SMALL}\na".encode)
    with pytest.raises(InvalidInputError, match="'a' occurs twice"):
        pieces.tokenizer()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Sizes of the vocabularies that a tokenizer was made with, in a process new to the build's."""
    sizes: list[int] = []

    class Counted(Tokenizer):
        def __init__(self, vocab: Any, *rest: Any) -> None:
            sizes.append(len(vocab))
            super().__init__(vocab, *rest)

    monkeypatch.setattr(module, "Tokenizer", Counted)
    engine_module.own_pieces.cache_clear()
    yield sizes
    engine_module.own_pieces.cache_clear()


def test_the_tokenizer_is_made_for_the_first_text_that_is_not_plain(made: list[int]) -> None:
    one, other = Engine.load(), Engine.load()
    for engine in (one, other):
        engine.embed("A plain text, of 2 sentences. This is one!")
        engine.embed_batch(["plain", "", "also plain " * 50])
        assert engine.tokenize("plain") == [101, 5810, 102]
        assert engine.token_count("plain " * 130) == (128, True)
        with pytest.raises(InvalidInputError, match="text is int, expected a str"):
            engine.embed(7)  # type: ignore[arg-type]
    assert made == []
    one.embed("Ärger")
    assert made == [30522]
    assert other.tokenize("Ärger") == one.tokenize("Ärger") == [101, 12098, 4590, 102]
    other.embed_batch(["Übermut", "a [MASK]", "x " * 2000])
    assert made == [30522]


def test_it_is_made_once_for_all_threads(made: list[int]) -> None:
    engines = [Engine.load() for _ in range(4)]
    together = threading.Barrier(len(engines))
    found: list[list[int]] = []

    def work(engine: Engine) -> None:
        together.wait()
        found.append(engine.tokenize("Ärger"))

    threads = [threading.Thread(target=work, args=(engine,)) for engine in engines]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[101, 12098, 4590, 102]] * 4
    assert made == [30522]


def test_engines_share_its_dictionaries_and_nothing_else() -> None:
    shared = engine_module.own_pieces().tokenizer()
    engine = Engine.load()
    texts = engine._encoder._texts
    texts.assign_one("Ärger")
    assert texts._tokenizer is not None
    assert texts._tokenizer is not shared
    assert texts._tokenizer._first is shared._first
    texts._tokenizer.max_length = 7
    assert shared.max_length == 128
