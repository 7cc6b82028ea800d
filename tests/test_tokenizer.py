"""The tokenizer's answers: the cases that engines get wrong, the golden file, and what it takes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tern_engine.errors import InvalidInputError, TernError
from tern_engine.tokenizer import Tokenizer

from tests.support import oracle
from tools import generate_golden_tokens as generator

GOLDEN: dict[str, Any] = json.loads(generator.TARGET.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(oracle.TOKENIZER_JSON)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("ΟΔΟΣ", [101, 1169, 29722, 29730, 29733, 102]),
        ("𠀀𠮷野家", [101, 100, 100, 1963, 1825, 102]),
        ("a\U0002b820b", [101, 100, 102]),
        ("A\U0001e000B", [101, 100, 102]),
        ("A\u0378B", [101, 100, 102]),
        ("a\ud800b", [101, 11113, 102]),
        ("\udfff", [101, 102]),
        ("[MASK] token", [101, 103, 19204, 102]),
        ("a" * 50_000, [101, 100, 102]),
        ("", [101, 102]),
        (" \t\n\u3000", [101, 102]),
    ],
    ids=ascii,
)
def test_cases_that_engines_get_wrong(tokenizer: Tokenizer, text: str, ids: list[int]) -> None:
    assert tokenizer.tokenize(text) == ids
    assert tokenizer.encode(text) == (ids, False)
    assert oracle.ids([text])[0] == ids


@pytest.mark.parametrize("case", GOLDEN["texts"], ids=lambda case: case["name"])
def test_golden_texts(tokenizer: Tokenizer, case: dict[str, Any]) -> None:
    text = case["text"] * case.get("repeat", 1)
    assert tokenizer.encode(text) == (case["ids"], case["truncated"])
    # Again, now that its chunks are remembered.
    assert tokenizer.tokenize(text) == case["ids"]


@pytest.mark.parametrize("block", [0, 1, 2, 3, 0xA, 0xF, 0x10, 0x11, 0x1D, 0x1E, 0x2B, 0x2F, 0xE0])
def test_golden_hashes_of_scalar_values(tokenizer: Tokenizer, block: int) -> None:
    expected = GOLDEN["scalars"]["hashes"][block]
    assert generator.block_hash(tokenizer.tokenize, block) == expected


@pytest.mark.full
def test_golden_hashes_of_all_scalar_values(tokenizer: Tokenizer) -> None:
    hashes = GOLDEN["scalars"]["hashes"]
    assert len(hashes) == 272
    for block, expected in enumerate(hashes):
        assert generator.block_hash(tokenizer.tokenize, block) == expected, f"U+{block:X}000"


@pytest.mark.full
def test_the_golden_file_is_current() -> None:
    assert generator.render(generator.golden()) == generator.TARGET.read_text(encoding="utf-8")


def test_the_golden_file_is_of_this_vocabulary_and_oracle() -> None:
    content = generator.TARGET.read_text(encoding="utf-8")
    assert generator.render(GOLDEN) == content
    assert content.isascii()
    fresh = {name: (text, 1) for name, text in (generator.TEXTS | generator.HARD).items()}
    fresh |= generator.REPEATED
    kept = {case["name"]: (case["text"], case.get("repeat", 1)) for case in GOLDEN["texts"]}
    assert kept == fresh
    texts = [text * repeat for text, repeat in fresh.values()]
    assert oracle.ids(texts, GOLDEN["max_length"]) == [case["ids"] for case in GOLDEN["texts"]]


@pytest.mark.parametrize("text", [None, 1, b"text", ["text"], bytearray(b"x")], ids=repr)
def test_what_is_no_str_is_refused(tokenizer: Tokenizer, text: Any) -> None:
    for method in (tokenizer.tokenize, tokenizer.encode):
        with pytest.raises(InvalidInputError) as refused:
            method(text)
        assert isinstance(refused.value, TernError)
        assert refused.value.code == "INVALID_INPUT"
        expected = f"tern-engine: text is {type(text).__name__}, expected a str"
        assert str(refused.value) == expected


def test_a_subclass_of_str_is_text(tokenizer: Tokenizer) -> None:
    class Text(str):
        pass

    assert tokenizer.tokenize(Text("hello")) == [101, 7592, 102]


def test_texts_with_one_start_and_two_tails_say_that_they_were_cut(tokenizer: Tokenizer) -> None:
    first, second = "word " * 126 + "one", "word " * 126 + "another tail"
    assert tokenizer.tokenize(first) == tokenizer.tokenize(second)
    assert tokenizer.encode(first)[1]
    assert tokenizer.encode(second)[1]
    assert not tokenizer.encode("word " * 126)[1]
    assert len(tokenizer.tokenize(first)) == 128


@pytest.mark.parametrize("max_length", [3, 4, 5, 127, 512])
def test_other_maximal_lengths(max_length: int) -> None:
    tokenizer = Tokenizer.from_file(oracle.TOKENIZER_JSON, max_length)
    for size in range(max_length - 4, max_length + 3):
        text = "word " * size
        expected = oracle.ids([text], max_length)[0]
        assert tokenizer.encode(text) == (expected, size > max_length - 2)


def test_it_needs_nothing_outside_the_standard_library() -> None:
    """Nor `unicodedata`, whose version differs between hosts."""
    folder = Path(sys.modules[Tokenizer.__module__].__file__ or "").parent
    for name in ("tokenizer.py", "_normalize.py", "_unicode.py", "_tokenizer_json.py"):
        imports = {
            line.split()[1].split(".")[0]
            for line in (folder / name).read_text(encoding="utf-8").splitlines()
            if line.lstrip().startswith(("import ", "from "))
        }
        allowed = {"__future__", "bisect", "collections", "itertools", "json", "os", "pathlib"}
        allowed |= {"re", "typing"}
        assert imports <= allowed | {"tern_engine"}, name
    # It is read by tokenizer.py, and not the other way round, too.
    text = (folder / "_tokenizer_json.py").read_text(encoding="utf-8")
    assert "tern_engine.tokenizer import" not in text
