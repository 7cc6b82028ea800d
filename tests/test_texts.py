"""Texts into the kernel: its ids of plain ones are the tokenizer's; calls, parts, order."""

from __future__ import annotations

import inspect
import random
import string
from array import array
from collections import UserString
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tern_engine import Engine
from tern_engine import texts as module
from tern_engine._data import read_data
from tern_engine.encoder import MAX_TEXTS, Encoder
from tern_engine.errors import InvalidInputError
from tern_engine.kernels import _ops
from tern_engine.kernels._wasmtime import WasmtimeKernel
from tern_engine.model import Layout
from tern_engine.pieces import Pieces
from tern_engine.texts import Texts, Vocabulary
from tern_engine.tokenizer import WINDOW, Tokenizer

from tests.support.texts import random_texts

PLAIN = "".join(map(chr, range(32, 127))).replace("[", "")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Words of it fail late, or only after their first piece; one has no last letter.
SMALL = [*SPECIAL, "a", "ab", "abc", "##a", "##cd", "##cdcd", "#", "##é", "z" * 100, "##", "9", "."]


class Reader:
    """A kernel that reads texts and does no more."""

    def __init__(
        self,
        pieces: Pieces,
        max_length: int = 128,
        most_texts: int = MAX_TEXTS,
        most_tokens: int = 512,
    ) -> None:
        self.kernel = WasmtimeKernel(read_data("kernels.wasm"))
        layout = Layout(self.kernel.heap_base)
        self.texts = Texts(pieces, max_length, layout)
        vocabulary = Vocabulary(pieces, layout)
        self.lengths = layout.place(4 * most_texts)
        self.ids = layout.place(4 * (most_tokens + max_length))
        operands = {
            name: getattr(vocabulary, name)
            for name in (
                *("pieces", "offsets", "slots", "slot_count"),
                *("longest", "unknown", "start", "end"),
            )
        }
        self.operands = operands | {
            "texts": self.texts.offset,
            "ids": self.ids,
            "lengths": self.lengths,
            "most_texts": most_texts,
            "most_tokens": most_tokens,
            "longest_text": max_length,
        }
        self.program = layout.place(4 * _ops.INSTRUCTION_WORDS)
        self.kernel.reserve(layout.end)
        vocabulary.write(self.kernel)
        self.texts.open(self.kernel)
        self.limits = (most_tokens, most_texts, max_length)
        assert self.check() == -1
        self.kernel.call("choose", self.program, 1)

    def check(self, **changes: int) -> int:
        """check_program's answer to the instruction with these changes."""
        words = _ops.read(**(self.operands | changes))
        self.kernel.write(self.program, array("I", words))
        return self.kernel.call("check_program", self.program, 1, *self.limits)

    def found(self, texts: int) -> list[list[int]]:
        """The ids of so many texts that the last call read."""
        lengths = self.words(self.lengths, texts)
        ids = iter(self.words(self.ids, sum(lengths)))
        return [[next(ids) for _ in range(length)] for length in lengths]

    def words(self, offset: int, count: int) -> list[int]:
        return array("I", self.kernel.read(offset, 4 * count)).tolist()

    def one(self, text: str) -> list[int]:
        self.texts.assign_one(text)
        assert self.kernel.call("run_first") == 1
        return self.found(1)[0]

    def calls(self, texts: list[str]) -> Iterator[list[list[int]]]:
        """What each call reads of many texts."""
        for left in self.texts.assign_parts(texts):
            name = "run_first"
            while left:
                count = self.kernel.call(name)
                yield self.found(count)
                left, name = left - count, "run_next"


class Untouched(Pieces):
    """Makes no tokenizer: what is asked of it should have been the kernel's."""

    def tokenizer(self) -> Tokenizer:
        raise AssertionError("not left to the kernel")


def own(kind: type[Pieces] = Untouched) -> Pieces:
    return kind(lambda: read_data("vocab.txt"))


def untouched(vocabulary: list[str]) -> Pieces:
    return Untouched(lambda: "\n".join([*vocabulary, ""]).encode())


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_vocab(read_data("vocab.txt").decode())


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(own())


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.load()


words = st.one_of(
    st.text(PLAIN, max_size=12),
    st.text(string.ascii_letters + string.digits, max_size=120),
    st.sampled_from(["Unbelievable", "embeddings", "THE", "don't", "##ing", " ", "]", "~"]),
)


@given(st.lists(words, max_size=40).map("".join), st.lists(words, max_size=40).map(" ".join))
def test_plain_texts(reader: Reader, tokenizer: Tokenizer, solid: str, spaced: str) -> None:
    for text in (solid[:WINDOW], spaced[:WINDOW]):
        assert reader.one(text) == tokenizer.tokenize(text)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "   x  ", PLAIN, "a" * 100, "a" * 101, "A" * WINDOW, "q" * 100 + " q", "!" * 300,
        "the " * 126, "the " * 127, "unbelievably " * 60, "x" * 99 + "." + "y" * 100,
    ],
)  # fmt: skip
def test_corners(reader: Reader, tokenizer: Tokenizer, text: str) -> None:
    assert reader.one(text) == tokenizer.tokenize(text)


def test_what_a_host_may_write_itself_is_what_is_left_to_the_kernel() -> None:
    assert module.PLAIN == PLAIN
    texts = Texts(own(Pieces), 128, Layout(0))
    for code in [*range(0x300), 0x2028, 0xFF3B, 0x1F600]:
        given = texts._bytes(chr(code))[:1] == module._GIVEN
        assert given == (chr(code) not in module.PLAIN), hex(code)


@pytest.mark.parametrize("text", ["", "a", "A plain text, of 2 sentences.", "~" * WINDOW])
def test_a_text_that_the_host_has_written(engine: Engine, text: str) -> None:
    engine.embed("something else, and longer than the text " * 9)
    encoder = engine._encoder
    engine._kernel.write(encoder.text, (text + module.AFTER_ONE).encode())
    encoder.run_written()
    found = encoder.out.tobytes(4 * engine.dim)
    assert found == engine.embed(text).tobytes()


def test_another_vocabulary() -> None:
    """Words that have no pieces, or none at their end, as the tokenizer sees them."""
    reader, tokenizer = Reader(untouched(SMALL), 9), Tokenizer(SMALL, 9)
    rng = random.Random(4)
    texts = ["".join(rng.choices("aaabcdcdz9.# ", k=rng.randrange(14))) for _ in range(3000)]
    texts += ["z" * 100, "z" * 101, "abcdcdcd", "abcdcdcda", "aaa aaa aaa", "##a", "##"]
    for text in texts:
        assert reader.one(text) == tokenizer.tokenize(text), text
    unknown = SMALL.index("[UNK]")
    assert any(unknown in tokenizer.tokenize(text) for text in texts)


def test_empty_pieces_are_pieces() -> None:
    """They count, and the piece before one is found, also where the last is empty."""
    for vocabulary in ([*SPECIAL, "", "abc"], [*SPECIAL, "abc", ""]):
        reader, tokenizer = Reader(untouched(vocabulary)), Tokenizer(vocabulary)
        assert reader.one("abc b") == tokenizer.tokenize("abc b")


def test_a_crowded_vocabulary() -> None:
    """Pieces that begin or end as others do, many of them in places next to each other."""
    rng = random.Random(8)
    strings = sorted({"".join(rng.choices("ab", k=rng.randrange(1, 9))) for _ in range(400)})
    starting, following = rng.sample(strings, 120), rng.sample(strings, 100)
    vocabulary = [*SPECIAL, *starting, *(f"##{piece}" for piece in following)]
    rng.shuffle(vocabulary)
    reader, tokenizer = Reader(untouched(vocabulary)), Tokenizer(vocabulary)
    for _ in range(3000):
        text = "".join(rng.choices("aabb ", k=rng.randrange(60)))
        assert reader.one(text) == tokenizer.tokenize(text), text


def test_more_ids_than_were_agreed_on(tokenizer: Tokenizer) -> None:
    """They do not reach past the kernel's buffer, and the next text stands where it should."""
    reader = Reader(own(Pieces))
    reader.texts._max_length = 200
    given = Tokenizer(list(tokenizer.pieces), 200).tokenize("caf\xe9 " * 200)
    assert len(given) == 200
    calls = list(reader.calls(["caf\xe9 " * 200, "next"]))
    assert calls == [[given[:128], tokenizer.tokenize("next")]]
    # What lies behind the ids is the program.
    assert list(reader.texts.assign_parts(["caf\xe9 " * 200] * 5)) == [5]
    assert reader.kernel.call("run_first") == 4
    assert reader.words(reader.program, _ops.INSTRUCTION_WORDS) == _ops.read(**reader.operands)


def test_instructions_after_it_work_on_what_was_read() -> None:
    reader = Reader(own())
    layout = Layout(reader.program)
    program = layout.place(4 * 3 * _ops.INSTRUCTION_WORDS)
    places = [layout.place(4096) for _ in range(4)]
    reader.kernel.reserve(layout.end)
    operands = dict(zip(("source", "codes", "inverse_scale", "bounds"), places, strict=True))
    quantize = dict.fromkeys(inspect.signature(_ops.quantize).parameters, 0) | operands
    quantize |= {"stride": 4, "columns": 4, "padded": 64}
    instructions = [
        _ops.read(**reader.operands), _ops.rows(count=1, chunk=32), _ops.quantize(**quantize),
    ]  # fmt: skip
    reader.kernel.write(program, array("I", [word for line in instructions for word in line]))
    reader.kernel.write(operands["inverse_scale"], bytes(4 * 16))
    reader.kernel.call("choose", program, 3)
    assert len(reader.one("three plain words")) == 5
    written = [word != 0 for word in reader.words(operands["inverse_scale"], 16)]
    assert written == [True] * 8 + [False] * 8  # tiles of 4 rows


def test_texts_of_another_kind_come_as_ids(tokenizer: Tokenizer) -> None:
    asked: list[str] = []

    class Asked(Tokenizer):
        def encode(self, text: str) -> tuple[list[int], bool]:
            asked.append(text)
            return super().encode(text)

    class Asking(Pieces):
        def tokenizer(self) -> Tokenizer:
            return Asked(self.text().decode().split("\n"))

    reader = Reader(own(Asking))
    texts = ["caf\xe9", "a [MASK] b", "tab\tbed", "nul\0", "\x01", "\x02", "a " * WINDOW, "\ud800"]
    for text in texts:
        assert reader.one(text) == tokenizer.tokenize(text)
    assert asked == texts
    assert [ids for call in reader.calls(texts) for ids in call] == [
        tokenizer.tokenize(text) for text in texts
    ]


def test_a_call_takes_what_it_can(tokenizer: Tokenizer) -> None:
    reader = Reader(own(Pieces), most_texts=8, most_tokens=160)
    texts = ["a"] * 12 + ["the " * 200] + ["caf\xe9"] * 4 + ["a b " * 20] * 3 + ["the " * 200]
    calls = list(reader.calls(texts))
    assert [ids for call in calls for ids in call] == [tokenizer.tokenize(text) for text in texts]
    assert [len(call) for call in calls] == [8, 8, 4, 1]


def test_more_texts_than_the_buffer_holds(reader: Reader, tokenizer: Tokenizer) -> None:
    texts = [f"{'word ' * (i % 90)}{i}" for i in range(400)]
    assert sum(map(len, texts)) > 3 * module.BUFFER
    calls = list(reader.calls(texts))
    assert [ids for call in calls for ids in call] == [tokenizer.tokenize(text) for text in texts]
    # What a call left unread is not what the next text is read from.
    reader.texts.assign_one("one more")
    assert reader.kernel.call("run_first") == 1


def test_texts_that_fill_the_buffer(reader: Reader, tokenizer: Tokenizer) -> None:
    """To its last byte, which is the end's; and a byte more."""
    for size, parts in ((1022, [16]), (1023, [15, 1])):
        texts = ["x " * 511 + "x"] * 15 + ["y" * size]
        assert list(reader.texts.assign_parts(texts)) == parts
        assert [ids for call in reader.calls(texts) for ids in call] == [
            tokenizer.tokenize(text) for text in texts
        ]


@pytest.mark.parametrize(
    "changes",
    [
        {"texts": 0},
        {"pieces": 0xFFFFFFF0},
        {"offsets": 65540},
        {"slots": 0xFFFFFF00},
        {"slot_count": 3},
        {"slot_count": 0},
        {"ids": 65540},
        {"lengths": 0},
        {"most_texts": MAX_TEXTS + 1},
        {"most_tokens": 513},
        {"most_tokens": 127},
        {"longest_text": 2},
        {"longest_text": 129},
    ],
    ids=str,
)
def test_instructions_are_checked(reader: Reader, changes: dict[str, int]) -> None:
    assert reader.check(**changes) == 0
    assert reader.check() == -1


def test_a_batch_of_all_kinds_has_the_bits_of_its_texts(engine: Engine) -> None:
    texts = [
        *random_texts(range(2, 150, 5), seed=3),
        "",
        "plain text",
        "caf\xe9",
        "a" * 3000,
        "[SEP]",
    ] * 2
    alone = np.stack([engine.embed(text) for text in texts])
    np.testing.assert_array_equal(engine.embed_batch(texts), alone)
    np.testing.assert_array_equal(engine.embed_batch(texts[::-1]), alone[::-1])


@pytest.mark.parametrize("bad", [None, 7, b"bytes", bytearray(b"a"), ["a"], UserString("a")])
def test_no_text(engine: Engine, bad: Any) -> None:
    before = engine.embed("before")
    for call in (engine.embed, lambda text: engine.embed_batch(["fine", text])):
        with pytest.raises(InvalidInputError, match="expected a str"):
            call(bad)
    np.testing.assert_array_equal(engine.embed("before"), before)


def test_each_text_is_run_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """No call is made for nothing: the results of run_all() are as many as the texts."""
    encoder: Encoder = engine._encoder
    called: list[str] = []
    call = engine._kernel.call

    def counted(name: str, *arguments: int) -> int:
        called.append(name)
        return call(name, *arguments)

    monkeypatch.setattr(engine._kernel, "call", counted)
    assert list(encoder.run_all([])) == []
    assert list(encoder.run_all(["a"] * 130)) == [64, 64, 2]
    assert called == ["run_first", "run_next", "run_next"]
