"""Where a vocabulary comes from, and what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tern_engine._normalize import SPECIAL_TOKENS
from tern_engine.errors import InvalidInputError
from tern_engine.tokenizer import Tokenizer

from tests.support import oracle

CONTENT: dict[str, Any] = json.loads(oracle.TOKENIZER_JSON.read_text("utf-8"))
VOCABULARY = sorted(CONTENT["model"]["vocab"], key=CONTENT["model"]["vocab"].__getitem__)
SMALL = [*SPECIAL_TOKENS, "a", "##b", "ab", "c"]


def small(**changes: Any) -> dict[str, Any]:
    """The committed tokenizer.json with a vocabulary of nine, changed at "path.to.setting"."""
    content = copy.deepcopy({**CONTENT, "model": {**CONTENT["model"], "vocab": {}}})
    content["model"]["vocab"] = {piece: index for index, piece in enumerate(SMALL)}
    for token in content["added_tokens"]:
        token["id"] = SMALL.index(token["content"])
    for token, used in content["post_processor"]["special_tokens"].items():
        used["ids"] = [SMALL.index(token)]
    for path, value in changes.items():
        *keys, last = path.split("__")
        inner: Any = content
        for key in keys:
            inner = inner[int(key) if key.isdecimal() else key]
        inner[int(last) if last.isdecimal() else last] = value
    return content


@pytest.fixture
def load(tmp_path: Path) -> Callable[[Any], Tokenizer]:
    def load(content: Any) -> Tokenizer:
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return Tokenizer.from_file(path)

    return load


def test_vocabulary_text_list_and_files_agree(tmp_path: Path) -> None:
    vocab_txt = tmp_path / "vocab.txt"
    vocab_txt.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8", newline="\n")
    windows = tmp_path / "windows.txt"
    windows.write_text("\n".join(VOCABULARY), encoding="utf-8", newline="\r\n")
    text = "Naïve [MASK] embeddings, 東京!"
    expected = oracle.ids([text])[0]
    for tokenizer in (
        Tokenizer(VOCABULARY),
        Tokenizer.from_vocab("\n".join(VOCABULARY)),
        Tokenizer.from_vocab("\n".join(VOCABULARY) + "\n"),
        Tokenizer.from_file(vocab_txt),
        Tokenizer.from_file(str(windows)),
        Tokenizer.from_file(oracle.TOKENIZER_JSON),
    ):
        assert tokenizer.tokenize(text) == expected
        assert tokenizer.vocab_size == 30_522
        assert tokenizer.max_length == 128


def test_the_committed_file_neither_pads_nor_truncates() -> None:
    assert CONTENT["padding"] is None
    assert CONTENT["truncation"] is None
    assert len(oracle.ids(["a " * 300])[0]) == 302


def test_the_special_tokens_of_bert_have_their_usual_ids() -> None:
    assert [VOCABULARY.index(token) for token in SPECIAL_TOKENS] == [0, 100, 101, 102, 103]


def test_a_small_file(load: Callable[[Any], Tokenizer]) -> None:
    tokenizer = load(small())
    ids = {piece: index for index, piece in enumerate(SMALL)}
    expected = ["[CLS]", "ab", "ab", "##b", "[MASK]", "[UNK]", "a", "[SEP]"]
    assert tokenizer.tokenize("ab Äbb[MASK]x á") == [ids[piece] for piece in expected]


@pytest.mark.parametrize(
    "changes",
    [
        {"padding": {"strategy": "BatchLongest"}, "truncation": {"max_length": 5}},
        {"normalizer__strip_accents": True},
        {"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}},
        {"decoder": None},
    ],
)
def test_settings_that_change_no_id_are_taken(
    load: Callable[[Any], Tokenizer], changes: dict[str, Any]
) -> None:
    assert load(small(**changes)).tokenize("ab c") == [2, 7, 8, 3]


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"normalizer": None}, 'normalizer.type is null, expected "BertNormalizer"'),
    (
        {"normalizer__type": "Lowercase"},
        'normalizer.type is "Lowercase", expected "BertNormalizer"',
    ),
    ({"normalizer__clean_text": False}, "normalizer.clean_text is false, expected true"),
    ({"normalizer__handle_chinese_chars": False}, "handle_chinese_chars is false, expected true"),
    ({"normalizer__lowercase": False}, "normalizer.lowercase is false, expected true"),
    ({"normalizer__lowercase": 1}, "normalizer.lowercase is 1, expected true"),
    ({"normalizer__strip_accents": False}, "strip_accents is false, expected null or true"),
    ({"pre_tokenizer__type": "Whitespace"}, 'is "Whitespace", expected "BertPreTokenizer"'),
    ({"model__type": "BPE"}, 'model.type is "BPE", expected "WordPiece"'),
    ({"model__unk_token": "<unk>"}, 'model.unk_token is "<unk>", expected "[UNK]"'),
    ({"model__continuing_subword_prefix": "@@"}, 'prefix is "@@", expected "##"'),
    ({"model__max_input_chars_per_word": 200}, "per_word is 200, expected 100"),
    ({"model__vocab": []}, "model.vocab is [], expected an object"),
    ({"model__vocab__ab": 99}, 'model.vocab["ab"] is 99, expected the ids 0…8, each once'),
    ({"model__vocab__ab": 8}, "is 8, expected the ids 0…8, each once"),
    ({"model__vocab__ab": "7"}, 'model.vocab["ab"] is "7", expected the ids'),
    ({"added_tokens": None}, "added_tokens is [], expected just [PAD] [UNK] [CLS] [SEP] [MASK]"),
    ({"added_tokens": []}, "added_tokens is [], expected just"),
    ({"added_tokens__0__content": "<x>"}, "expected just [PAD] [UNK] [CLS] [SEP] [MASK]"),
    ({"added_tokens__4__id": 5}, "added_tokens [MASK] id is 5, expected 4, as in the vocab"),
    ({"added_tokens__4__lstrip": True}, "added_tokens [MASK] lstrip is true, expected false"),
    ({"added_tokens__4__rstrip": True}, "added_tokens [MASK] rstrip is true, expected false"),
    ({"added_tokens__0__normalized": True}, "[PAD] normalized is true, expected false"),
    ({"added_tokens__0__single_word": True}, "[PAD] single_word is true, expected false"),
    ({"post_processor": None}, "post_processor.type is null, expected"),
    ({"post_processor__single": []}, "post_processor.single is [], expected [CLS] A [SEP]"),
    ({"post_processor__special_tokens": {}}, "[CLS].ids is null, expected [2]"),
    (
        {"post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 9], "cls": ["[CLS]", 2]}},
        "expected [CLS] A [SEP]",
    ),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=lambda value: str(value)[:60])
def test_other_settings_are_refused_by_name(
    load: Callable[[Any], Tokenizer], changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        load(small(**changes))
    assert str(refused.value).startswith("tern-engine: tokenizer.json: ")
    assert message in str(refused.value)


@pytest.mark.parametrize("text", ["", "[1", "[]", "null", '"x"', "{}", '{"model": 3}'])
def test_other_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"tokenizer\.json"):
        Tokenizer.from_file(path)


@pytest.mark.parametrize("token", SPECIAL_TOKENS)
def test_a_vocabulary_needs_every_special_token(token: str) -> None:
    others = [piece for piece in SMALL if piece != token]
    with pytest.raises(InvalidInputError, match=rf"vocabulary: \[{token[1:-1]}\] is missing"):
        Tokenizer(others)


def test_a_special_token_missing_in_json(load: Callable[[Any], Tokenizer]) -> None:
    content = small()
    content["model"]["vocab"]["d"] = content["model"]["vocab"].pop("[MASK]")
    with pytest.raises(InvalidInputError, match=r"\[MASK\]"):
        load(content)


def test_a_piece_that_occurs_twice_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="vocabulary: 'a' occurs twice"):
        Tokenizer([*SMALL, "a"])


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[PAD]\n\xff\n")
    with pytest.raises(InvalidInputError, match="expected UTF-8"):
        Tokenizer.from_file(path)


def test_a_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_file(tmp_path / "nowhere.json")


def test_an_empty_vocabulary_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="missing"):
        Tokenizer.from_vocab("")


@pytest.mark.parametrize("max_length", [2, 0, -1, True, 8.0, "128", None])
def test_a_max_length_without_room_is_refused(max_length: Any) -> None:
    with pytest.raises(InvalidInputError, match="max_length"):
        Tokenizer(SMALL, max_length)


def test_a_piece_of_over_a_hundred_characters_is_never_used() -> None:
    # The library calls a long word unknown before it looks into the vocabulary.
    tokenizer = Tokenizer([*SMALL, "d" * 101, "d" * 100, "##" + "d" * 99])
    unknown = SMALL.index("[UNK]")
    assert tokenizer.tokenize("d" * 101)[1:-1] == [unknown]
    assert tokenizer.tokenize("d" * 100)[1:-1] == [len(SMALL) + 1]
    assert tokenizer.tokenize("a" + "d" * 99)[1:-1] == [SMALL.index("a"), len(SMALL) + 2]
