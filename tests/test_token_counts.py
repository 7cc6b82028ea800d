"""Engine.tokenize() and token_count(), whose plain texts are the kernel's, against Tokenizer."""

from __future__ import annotations

import json
import random
import string
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tern_engine import Engine
from tern_engine._data import read_data
from tern_engine.format import MAX_SEQ_LEN, MIN_SEQ_LEN, Header
from tern_engine.tokenizer import WINDOW, Tokenizer

from tests.support.models import random_model
from tests.support.texts import words

ROOT = Path(__file__).resolve().parent.parent
GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/tokens.json").read_text("utf-8"))
PLAIN = "".join(map(chr, range(32, 127))).replace("[", "")
# The least, one between, the shipped one, and as many tokens as a call takes of all texts.
LENGTHS = [MIN_SEQ_LEN, 16, 128, MAX_SEQ_LEN]
# Tokens each: 1, 1, 3, 2, 1 (unknown), 1, 5, 2.
PARTS = ["the", "!", "unbelievably", "Embedding", "q" * 101, "Z", "don't!?", "caf\xe9\u0301s"]


class Pair:
    """An engine and a tokenizer of the same length."""

    def __init__(self, max_length: int) -> None:
        self.engine = Engine.load(
            random_model(Header("int4", 30522, 4, 1, 2, 4, 31, max_length), 0)
        )
        self.tokenizer = Tokenizer.from_vocab(read_data("vocab.txt").decode(), max_length)

    def check(self, text: str) -> bool:
        """That both say the same; whether the text was cut."""
        ids, cut = self.tokenizer.encode(text)
        assert self.engine.tokenize(text) == ids, text
        assert self.engine.token_count(text) == (len(ids), cut), text
        return cut


@pytest.fixture(scope="module", params=LENGTHS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return Pair(request.param)


@pytest.fixture(scope="module")
def shipped() -> Pair:
    return Pair(128)


def test_golden_texts(shipped: Pair) -> None:
    for case in GOLDEN["texts"]:
        text = case["text"] * case.get("repeat", 1)
        assert shipped.engine.tokenize(text) == case["ids"]
        assert shipped.engine.token_count(text) == (len(case["ids"]), case["truncated"])


def test_around_the_length(pair: Pair) -> None:
    """Texts of single words, and of words of several tokens, that fit, just fit and do not."""
    length = pair.tokenizer.max_length
    for size in range(max(length - 6, 0), length + 4):
        assert pair.check("! " * size) is (size > length - 2)
        assert pair.check("!" * size + "   ") is (size > length - 2)
        assert pair.check("\xe9 " * size) is (size > length - 2)
        rest = max(size - 3, 0)
        pair.check("! " * rest + "unbelievably")
        pair.check("unbelievably" + " !" * rest + " ")
        pair.check("! " * rest + "q" * 101)


@pytest.mark.parametrize("size", [WINDOW - 1, WINDOW, WINDOW + 1, 3 * WINDOW])
def test_around_the_window(pair: Pair, size: int) -> None:
    for unit in ("!", "a", "the ", "unbelievable embeddings ", "q" * 100 + " ", "q" * 101 + " "):
        pair.check((unit * size)[:size])


def test_random_texts(pair: Pair) -> None:
    rng = random.Random(pair.tokenizer.max_length)
    cut = 0
    for _ in range(400):
        size = rng.randrange(max(pair.tokenizer.max_length - 20, 0), pair.tokenizer.max_length + 5)
        chosen = rng.choices(words(), k=size)
        for _ in range(rng.randrange(4)):
            chosen.insert(rng.randrange(len(chosen) + 1), rng.choice(PARTS))
        cut += pair.check(rng.choice([" ", "  ", "-"]).join(chosen))
    assert 20 < cut < 380


@given(
    st.lists(
        st.one_of(
            st.text(PLAIN, max_size=12),
            st.text(string.ascii_letters + string.digits, max_size=120),
            st.text(max_size=4),
            st.sampled_from([*PARTS, *("the " * n for n in (120, 124, 126))]),
        ),
        max_size=12,
    )
)
def test_any_text(shipped: Pair, parts: list[str]) -> None:
    for text in (" ".join(parts), "".join(parts)):
        shipped.check(text)


def test_nothing_is_left_of_it(shipped: Pair) -> None:
    """A text that was cut says nothing of the next, and vectors are as before."""
    engine = shipped.engine
    before = bytes(engine.embed("one text"))
    for text in ("caf\xe9 " * 200, "the " * 200):
        assert engine.token_count(text) == (128, True)
        assert engine.token_count("the end") == (4, False)
        assert engine.tokenize("caf\xe9") == shipped.tokenizer.tokenize("caf\xe9")
        assert bytes(engine.embed("one text")) == before
    batch = engine.embed_batch(["one text", "two"] * 40)
    assert bytes(batch[78]) == before


def test_threads_take_turns(shipped: Pair) -> None:
    texts = ["the " * n for n in range(60, 100)] + ["caf\xe9 " * n for n in range(5, 10)]
    expected = {text: shipped.tokenizer.encode(text) for text in texts}
    wrong: list[str] = []

    def work(order: int) -> None:
        for text in texts[::order] * 5:
            ids, cut = expected[text]
            shipped.engine.embed(text)
            found = shipped.engine.tokenize(text), shipped.engine.token_count(text)
            if found != (ids, (len(ids), cut)):
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(1 - 2 * (i % 2),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
