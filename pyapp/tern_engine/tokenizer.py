"""Text → token ids: BERT's WordPiece, equal to Hugging Face `tokenizers` on every string.

    text ─► chunks between white space ─► words (_normalize.py) ─► longest pieces of the vocabulary

Special tokens written in the text are found before anything else is done to it. A chunk's ids
depend on the chunk alone, so recent chunks are remembered. In printable ASCII the words are what a
regular expression finds, and most are pieces. Longer texts are read window by window, and no
further than the ids that fit.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from itertools import compress, repeat
from pathlib import Path

from tern_engine import _unicode
from tern_engine._normalize import (
    CONTINUATION,
    END,
    MAX_WORD,
    SPECIAL_TOKENS,
    START,
    UNKNOWN,
    WordStream,
    words,
)
from tern_engine.errors import InvalidInputError

DEFAULT_MAX_LENGTH = 128
# Room for [CLS], one piece and [SEP].
MIN_MAX_LENGTH = 3

# Characters read at a time: more than 128 tokens of usual text.
WINDOW = 1024

_CHUNKS = re.compile(f"[^{_unicode.SPACES}]+")
# Words of lower-case printable ASCII: letters and digits, or one sign.
_PLAIN_WORDS = re.compile("[0-9a-z]+|[^ ]")
# Compiled when first used, and then kept by `re`: most texts have no bracket.
_SPECIAL = "(" + "|".join(map(re.escape, SPECIAL_TOKENS)) + ")"
_SPECIAL_LENGTH = max(map(len, SPECIAL_TOKENS))


def missing(token: str) -> InvalidInputError:
    """The error of a vocabulary without this special token."""
    return InvalidInputError(f"vocabulary: {token} is missing, expected a BERT vocabulary")


def check_text(text: object) -> None:
    """Raises InvalidInputError when `text` is not a str."""
    if not isinstance(text, str):
        raise InvalidInputError(field="text", found=type(text).__name__, expected="a str")


class Tokenizer:
    """Tokenizes with one vocabulary and one maximal length.

    vocab: the pieces, each at the index that is its id. max_length: ids at most, [CLS] and [SEP]
    included. Raises InvalidInputError for a vocabulary that lacks a special token or has a piece
    twice, and for a max_length under 3.
    """

    # Chunks remembered: up to twice CACHE_CHUNKS, none longer than CACHE_CHUNK characters.
    CACHE_CHUNKS = 4096
    CACHE_CHUNK = 32

    def __init__(self, vocab: Sequence[str], max_length: int = DEFAULT_MAX_LENGTH) -> None:
        if isinstance(max_length, bool) or not isinstance(max_length, int):
            raise InvalidInputError(
                field="max_length", found=type(max_length).__name__, expected="an int"
            )
        if max_length < MIN_MAX_LENGTH:
            raise InvalidInputError(
                field="max_length", found=max_length, expected=f"at least {MIN_MAX_LENGTH}"
            )
        ids = dict(zip(vocab, range(len(vocab)), strict=True))
        if len(ids) != len(vocab):
            twice = next(piece for index, piece in enumerate(vocab) if ids[piece] != index)
            raise InvalidInputError(f"vocabulary: {twice!r} occurs twice, expected distinct pieces")
        for token in SPECIAL_TOKENS:
            if token not in ids:
                raise missing(token)
        self.vocab_size = len(vocab)
        self._ids = ids
        self.max_length = max_length
        self._special = {token: ids[token] for token in SPECIAL_TOKENS}
        # Ids of what stands for an unknown word, before a text and behind it.
        self.unknown, self.start, self.end = ids[UNKNOWN], ids[START], ids[END]
        # Pieces that start a word, and those that continue one without their "##".
        self._first = ids
        longest = max(map(len, ids))
        if longest > MAX_WORD:  # no word is as long as those pieces
            self._first = {piece: i for piece, i in ids.items() if len(piece) <= MAX_WORD}
        skip, continues = len(CONTINUATION), map(str.startswith, ids, repeat(CONTINUATION))
        self._next = {piece[skip:]: index for piece, index in compress(ids.items(), continues)}
        self.longest = min(longest, MAX_WORD)
        self._recent: dict[str, tuple[int, ...]] = {}
        self._older: dict[str, tuple[int, ...]] = {}

    @classmethod
    def from_vocab(cls, text: str, max_length: int = DEFAULT_MAX_LENGTH) -> Tokenizer:
        """From the text of a vocab.txt: one piece a line, its id the line's number from 0."""
        lines = text.replace("\r\n", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
        return cls(lines, max_length)

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], max_length: int = DEFAULT_MAX_LENGTH
    ) -> Tokenizer:
        """From a vocab.txt, or a Hugging Face tokenizer.json, told by the name's ending.

        Raises InvalidInputError naming a setting of the tokenizer.json that is not this module's,
        OSError when the file cannot be read.
        """
        try:
            text = Path(path).read_bytes().decode()
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"{path}: {error.reason}, expected UTF-8 text") from None
        if Path(path).suffix == ".json":
            from tern_engine._tokenizer_json import read_vocabulary

            return cls(read_vocabulary(text), max_length)
        return cls.from_vocab(text, max_length)

    @property
    def pieces(self) -> Iterable[str]:
        """The vocabulary, in the order of its ids."""
        return self._ids

    def tokenize(self, text: str) -> list[int]:
        """[CLS], the pieces that fit, [SEP]: at most max_length ids, no padding."""
        return self.encode(text)[0]

    def encode(self, text: str) -> tuple[list[int], bool]:
        """The ids of tokenize(), and whether pieces were cut off.

        Raises InvalidInputError when `text` is not a str. A lone surrogate is read as U+FFFD.
        """
        check_text(text)
        ids = [self.start]
        if len(text) <= WINDOW:
            self._add_chunks(ids, text)
        else:
            self._add_windows(ids, text)
        full = self.max_length - 1
        cut = len(ids) > full
        if cut:
            del ids[full:]
        ids.append(self.end)
        return ids, cut

    # The methods below add the ids of a text to `ids` and may stop once there are max_length of
    # them: one more than fit before [SEP], so that encode() sees that pieces were cut.

    def _add_chunks(self, ids: list[int], text: str) -> None:
        """Of a text of at most WINDOW characters, or of the chunks of a longer one."""
        if text.isascii() and text.isprintable() and "[" not in text:
            self._add_plain(ids, text)
            return
        enough = self.max_length
        recall = self._recent.get
        for chunk in _CHUNKS.findall(text):
            pieces = recall(chunk)
            ids += self._chunk(chunk) if pieces is None else pieces
            if len(ids) >= enough:
                return

    def _add_plain(self, ids: list[int], text: str) -> None:
        """Of printable ASCII without a bracket: with no call of Python code for a usual word."""
        found = _PLAIN_WORDS.findall(text.lower())
        whole = list(map(self._first.get, found))
        if None not in whole:
            ids += whole  # type: ignore[arg-type]
            return
        recall = self._recent.get
        for word, piece in zip(found, whole, strict=True):
            if piece is None:
                ids += recall(word) or self._chunk(word)
            else:
                ids.append(piece)

    def _add_windows(self, ids: list[int], text: str) -> None:
        position = 0
        while position < len(text) and len(ids) < self.max_length:
            end = position + WINDOW
            if end < len(text):
                end = max(text.rfind(space, position, end) for space in _unicode.SPACES) + 1
                if end == 0:
                    position = self._add_long_chunk(ids, text, position)
                    continue
            self._add_chunks(ids, text[position:end])
            position = end

    def _add_long_chunk(self, ids: list[int], text: str, position: int) -> int:
        """Of the chunk at `position`. Returns where reading ended."""
        stream = WordStream()
        ended = False
        while not ended and len(ids) < self.max_length:
            end = min(position + WINDOW, len(text))
            chunk = _CHUNKS.match(text, position, end)
            chunk_end = chunk.end() if chunk else position
            ended = chunk_end < end or end == len(text)
            if ended:
                end = chunk_end
            else:
                # A special token that the window cuts through begins the next one.
                bracket = text.rfind("[", end - _SPECIAL_LENGTH + 1, end)
                end = bracket if bracket > position else end
            for index, part in enumerate(re.split(_SPECIAL, text[position:end])):
                if index % 2:
                    self._add_words(ids, stream.finish())
                    ids.append(self._special[part])
                else:
                    self._add_words(ids, stream.feed(part))
            position = end
        self._add_words(ids, stream.finish())
        return position

    def _add_words(self, ids: list[int], found: list[str]) -> None:
        for word in found:
            if len(ids) >= self.max_length:
                return
            ids += self._word(word)

    def _chunk(self, chunk: str) -> tuple[int, ...]:
        """The ids of a chunk that is not among the recent ones. It is afterwards, if short."""
        pieces = self._older.get(chunk)
        if pieces is None:
            pieces = self._pieces(chunk)
        if len(chunk) <= self.CACHE_CHUNK:
            if len(self._recent) >= self.CACHE_CHUNKS:
                self._older, self._recent = self._recent, {}
            self._recent[chunk] = pieces
        return pieces

    def _pieces(self, chunk: str) -> tuple[int, ...]:
        if chunk.isascii() and chunk.isalnum():
            return self._word(chunk.lower())
        if "[" not in chunk:
            found = words(chunk)
            return self._word(found[0]) if len(found) == 1 else self._ids_of(found)
        ids: list[int] = []
        for index, part in enumerate(re.split(_SPECIAL, chunk)):
            if index % 2:
                ids.append(self._special[part])
            else:
                ids += self._ids_of(words(part))
        return tuple(ids)

    def _ids_of(self, found: list[str]) -> tuple[int, ...]:
        ids: list[int] = []
        for word in found:
            ids += self._word(word)
        return tuple(ids)

    def _word(self, word: str) -> tuple[int, ...]:
        """The ids of one word: its longest start in the vocabulary, and so on with the rest."""
        length = len(word)
        if length > MAX_WORD:
            return (self.unknown,)
        whole = self._first.get(word)
        if whole is not None:
            return (whole,)
        ids = []
        start, find = 0, self._first.get
        while start < length:
            for end in range(min(start + self.longest, length), start, -1):
                piece = find(word[start:end])
                if piece is not None:
                    break
            else:
                return (self.unknown,)
            ids.append(piece)
            start, find = end, self._next.get
        return tuple(ids)
