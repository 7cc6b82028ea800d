"""A vocabulary of which no more is made than is used.

Its text, and five numbers told without a string for each piece, are what the kernel tokenizes plain
texts with. A Tokenizer has dictionaries, which take longer to make than the rest of a load and 3 MB
in a snapshot of an interpreter: it is made for the first text that is not plain.
"""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from threading import Lock

from ._normalize import END, MAX_WORD, SPECIAL_TOKENS, START, UNKNOWN
from .tokenizer import Tokenizer, missing


class Pieces:
    """The pieces of a vocab.txt, which `read` gives: one a line, its id the line's number from 0.

    size: how many. longest: bytes of the longest, as far as a word can be as long. unknown, start,
    end: ids of what stands for an unknown word, before a text and behind it. Raises
    InvalidInputError where a special token is missing; a piece that is there twice is found by
    tokenizer() alone, which a build calls (tools/payload.py).
    """

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._lock = Lock()
        self._tokenizer: Tokenizer | None = None
        framed = b"\n%b\n" % self.text()
        self.size = framed.count(b"\n") - 1
        self.longest = min(max(map(len, BytesIO(framed))) - 1, MAX_WORD)  # line by line
        ids = {token: _line(framed, token) for token in SPECIAL_TOKENS}
        self.unknown, self.start, self.end = ids[UNKNOWN], ids[START], ids[END]

    def text(self) -> bytes:
        """The pieces in UTF-8 with a line feed between each two. Read anew, not kept."""
        return self._read().replace(b"\r\n", b"\n").removesuffix(b"\n")

    def tokenizer(self) -> Tokenizer:
        """With these pieces; the same one each time. Raises InvalidInputError as Tokenizer does."""
        with self._lock:
            if self._tokenizer is None:
                self._tokenizer = Tokenizer(self.text().decode().split("\n"))
            return self._tokenizer


def _line(framed: bytes, token: str) -> int:
    """The number of the line that says `token`."""
    at = framed.find(f"\n{token}\n".encode())
    if at < 0:
        raise missing(token)
    return framed.count(b"\n", 0, at)
