"""A Hugging Face tokenizer.json → its vocabulary, when its settings are those of tokenizer.py.

Read are the model, the normalizer, the pre-tokenizer, the post-processor and the added tokens. The
file's own padding and truncation are not used (nothing is padded, the tokenizer has its own
max_length), nor is its decoder.
"""

from __future__ import annotations

import json
from typing import Any

from tern_engine._normalize import CONTINUATION, END, MAX_WORD, SPECIAL_TOKENS, START, UNKNOWN
from tern_engine.errors import InvalidInputError

# Setting → the values that mean what tokenizer.py does. None is a setting that is absent or null.
_SETTINGS: dict[str, tuple[object, ...]] = {
    "normalizer.type": ("BertNormalizer",),
    "normalizer.clean_text": (True,),
    "normalizer.handle_chinese_chars": (True,),
    "normalizer.strip_accents": (None, True),  # None: as lowercase
    "normalizer.lowercase": (True,),
    "pre_tokenizer.type": ("BertPreTokenizer",),
    "model.type": ("WordPiece",),
    "model.unk_token": (UNKNOWN,),
    "model.continuing_subword_prefix": (CONTINUATION,),
    "model.max_input_chars_per_word": (MAX_WORD,),
}
# An added token is found in the raw text, alone or glued to other characters.
_ADDED_FLAGS = ("single_word", "lstrip", "rstrip", "normalized")


def read_vocabulary(text: str) -> list[str]:
    """The pieces in the order of their ids. InvalidInputError names what differs."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"tokenizer.json: {error}, expected JSON") from None
    for path, allowed in _SETTINGS.items():
        found = _get(content, path)
        # True == 1 in Python, not in JSON.
        if not any(found is value or (found == value and found != 1) for value in allowed):
            raise _refusal(path, found, " or ".join(map(json.dumps, allowed)))
    vocabulary = _vocabulary(_get(content, "model.vocab"))
    ids = {token: vocabulary.index(token) for token in SPECIAL_TOKENS if token in vocabulary}
    _check_added_tokens(_get(content, "added_tokens"), ids)
    _check_post_processor(_get(content, "post_processor"), ids)
    return vocabulary


def _get(content: object, path: str) -> Any:
    for key in path.split("."):
        content = content.get(key) if isinstance(content, dict) else None
    return content


def _refusal(path: str, found: object, expected: str) -> InvalidInputError:
    shown = json.dumps(found)
    if len(shown) > 80:
        shown = shown[:77] + "…"
    return InvalidInputError(field=f"tokenizer.json: {path}", found=shown, expected=expected)


def _vocabulary(found: object) -> list[str]:
    if not isinstance(found, dict) or not found:
        raise _refusal("model.vocab", found, "an object of pieces and ids")
    pieces: list[str | None] = [None] * len(found)
    for piece, index in found.items():
        if type(index) is not int or not 0 <= index < len(pieces) or pieces[index] is not None:
            raise _refusal(
                f"model.vocab[{json.dumps(piece)}]",
                index,
                f"the ids 0…{len(pieces) - 1}, each once",
            )
        pieces[index] = piece
    return [piece for piece in pieces if piece is not None]


def _check_added_tokens(found: object, ids: dict[str, int]) -> None:
    tokens = found if isinstance(found, list) else []
    contents = [_get(token, "content") for token in tokens]
    if len(contents) != len(SPECIAL_TOKENS) or any(t not in contents for t in SPECIAL_TOKENS):
        raise _refusal("added_tokens", contents, "just " + " ".join(SPECIAL_TOKENS))
    for token, content in zip(tokens, contents, strict=True):
        if token.get("id") != ids.get(content):
            raise _refusal(
                f"added_tokens {content} id",
                token.get("id"),
                f"{ids.get(content)}, as in the vocab",
            )
        for flag in _ADDED_FLAGS:
            if token.get(flag) is not False:
                raise _refusal(f"added_tokens {content} {flag}", token.get(flag), "false")


def _check_post_processor(found: object, ids: dict[str, int]) -> None:
    """[CLS] text [SEP], in either of the two ways to say so."""
    path, expected = "post_processor", f"{START} A {END}"
    kind = _get(found, "type")
    if kind == "BertProcessing":
        wanted = {"cls": [START, ids[START]], "sep": [END, ids[END]]}
        if any(_get(found, key) != value for key, value in wanted.items()):
            raise _refusal(path, found, expected)
    elif kind == "TemplateProcessing":
        steps = _get(found, "single")
        names = [
            _get(step, "SpecialToken.id") or _get(step, "Sequence.id")
            for step in (steps if isinstance(steps, list) else [])
        ]
        if " ".join(map(str, names)) != expected:
            raise _refusal(f"{path}.single", names, expected)
        for token in (START, END):
            used = _get(found, f"special_tokens.{token}.ids")
            if used != [ids[token]]:
                raise _refusal(f"{path}.special_tokens.{token}.ids", used, str([ids[token]]))
    else:
        raise _refusal(f"{path}.type", kind, '"TemplateProcessing" or "BertProcessing"')
