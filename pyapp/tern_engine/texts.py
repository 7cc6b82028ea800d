"""Texts on their way into the kernel, and the vocabulary that it tokenizes the plain ones with.

Plain texts are printable ASCII without a bracket, which could begin a special token. Of them the
kernel makes what tokenizer.py does (wordpiece.c), in a fortieth of the time. Of others it is given
the ids.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from typing import Any

from .errors import InvalidInputError
from .kernels import Kernel
from .model import Layout, round_up
from .pieces import Pieces
from .tokenizer import WINDOW, Tokenizer, check_text

# As wordpiece.c has them.
_GIVEN = b"\1"
_END = b"\2"
# For a host that writes a plain text itself: what it may be made of, and what stands behind it.
PLAIN = "".join(chr(code) for code in range(0x20, 0x7F) if chr(code) != "[")
AFTER_ONE = "\0" + _END.decode()
# Bytes of texts that are laid down at a time: several calls of the kernel.
BUFFER = 1 << 14


def items(texts: Any, expected: str) -> Iterator[Any]:
    """What stands in `texts`. Raises InvalidInputError for a str, bytes, or what is no iterable."""
    if not isinstance(texts, (str, bytes)):
        with suppress(TypeError):  # an array without dimensions is iterable in name alone
            return iter(texts)
    raise InvalidInputError(field="texts", found=type(texts).__name__, expected=expected)


class Vocabulary:
    """Pieces in kernel memory: operands of the `read` instruction."""

    def __init__(self, pieces: Pieces, layout: Layout) -> None:
        self._text = pieces.text()
        self.longest = pieces.longest
        self.unknown, self.start, self.end = pieces.unknown, pieces.start, pieces.end
        self.slot_count = 1 << (2 * pieces.size - 1).bit_length()
        self.pieces = layout.place(len(self._text))
        self.offsets = layout.place(4 * (pieces.size + 1))
        self.slots = layout.place(4 * self.slot_count)

    def write(self, kernel: Kernel) -> None:
        """Lay the pieces out, once there is memory for them."""
        kernel.write(self.pieces, self._text)
        kernel.call("fill_zero", self.slots, 4 * self.slot_count)
        kernel.call(
            "learn_pieces",
            *(self.pieces, len(self._text), self.offsets, self.slots, self.slot_count),
        )
        self._text = b""


class Texts:
    """The buffer that the kernel reads texts from.

    max_length: ids of a text at most. `cut` is whether the last one that came as ids had more.
    """

    def __init__(self, pieces: Pieces, max_length: int, layout: Layout) -> None:
        self.cut = False
        self._pieces = pieces
        self._max_length = max_length
        self._tokenizer: Tokenizer | None = None
        # The longest text alone, as characters or as ids, and the end.
        self._one_size = round_up(max(WINDOW, 4 * max_length) + 8, 16)
        self._size = max(BUFFER, self._one_size)
        self.offset = layout.place(self._size)

    def open(self, kernel: Kernel) -> None:
        """Once there is memory for it."""
        self._one = kernel.window(self.offset, self._one_size)
        self._all = kernel.window(self.offset, self._size)

    def assign_one(self, text: str) -> None:
        """Lay one text down. Raises InvalidInputError if it is no str."""
        self._one.assign(self._bytes(text).ljust(self._one_size, _END))

    def assign_parts(self, texts: Sequence[str]) -> Iterator[int]:
        """Lay down as many texts as there is room for, then the next; yields how many it were."""
        part: list[bytes] = []
        size = 1  # the end's
        for text in texts:
            item = self._bytes(text)
            if size + len(item) > self._size:
                yield self._assign(part)
                part, size = [], 1
            part.append(item)
            size += len(item)
        yield self._assign(part)

    def _assign(self, part: list[bytes]) -> int:
        self._all.assign(b"".join(part).ljust(self._size, _END))
        return len(part)

    def _bytes(self, text: str) -> bytes:
        """A text as wordpiece.c reads it."""
        if (
            isinstance(text, str)  # what is none is refused by _given()
            and text.isascii()
            and text.isprintable()
            and "[" not in text
            and len(text) <= WINDOW
        ):
            return text.encode() + b"\0"
        return self._given(text)

    def _given(self, text: str) -> bytes:
        """A text as the ids that it has."""
        check_text(text)
        if self._tokenizer is None:
            # Of a length of its own, with the dictionaries of the others.
            self._tokenizer = copy(self._pieces.tokenizer())
            self._tokenizer.max_length = self._max_length
        ids, self.cut = self._tokenizer.encode(text)
        return _GIVEN + array("I", [len(ids), *ids]).tobytes()
