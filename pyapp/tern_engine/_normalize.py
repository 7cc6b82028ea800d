"""Text → words, as the BERT normalizer and pre-tokenizer of `tokenizers` make them.

The library cleans a text, sets Chinese characters apart, decomposes (NFD, marks in canonical
order), removes non-spacing marks, lower-cases, splits at spaces and sets punctuation apart. All of
it but the order of marks happens to one character at a time, so one `str.translate` does it:

    character → "" | characters | " " + characters + " "    (the spaces set a word apart)

Marks trade places only within a run of marks. The non-spacing ones are gone after the translation,
so what is left to do is to sort the runs of the few marks that survive. A removed mark of combining
class 0 would have kept the marks on its two sides from trading places: the translation leaves a
BARRIER (which cleaning lets through from no text) for it until the runs are sorted.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from tern_engine import _unicode

# A longer word is unknown, whatever it says.
MAX_WORD = 100

# Pieces of the vocabulary that mean more than they say.
UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
SPECIAL_TOKENS = ("[PAD]", UNKNOWN, START, END, "[MASK]")
CONTINUATION = "##"  # before a piece that does not start its word

BARRIER = "\0"

_MARKS = "".join(_unicode.MARKS)
_MARK_RANK = {mark: rank for rank, group in enumerate(_unicode.MARKS) for mark in group}
_MARK_RUN = f"[{_MARKS}]{{2,}}"

_HANGUL_FIRST, _HANGUL_LAST = 0xAC00, 0xD7A3
_HANGUL_VOWELS, _HANGUL_TAILS = 21, 28


def _edges(ranges: str) -> list[int]:
    """ "0-8 b" → [0, 9, 11, 12]: where the set begins and where it ends, in turns."""
    edges = []
    for item in ranges.split(" "):
        first, _, last = item.partition("-")
        edges += [int(first, 16), int(last or first, 16) + 1]
    return edges


class _CharacterMap(dict[int, str]):
    """Code point → what stands in its place. Filled as characters are met, within a bound.

    Decoding the frozen tables waits for the first character that is asked for.
    """

    BOUND = 16_384

    def __init__(self) -> None:
        super().__init__()
        self._replaced: dict[int, str] = {}
        self._sets: list[list[int]] = []

    def _decode(self) -> None:
        replaced = dict(_unicode.EXPANDED)
        for first, characters in _unicode.REPLACED:
            replaced.update(enumerate(characters, first))
        self._replaced = replaced
        self._sets = [
            _edges(table) for table in (_unicode.DROPPED, _unicode.BARRIERS, _unicode.SEPARATE)
        ]

    def _fate(self, point: int) -> str:
        if _HANGUL_FIRST <= point <= _HANGUL_LAST:
            syllable, tail = divmod(point - _HANGUL_FIRST, _HANGUL_TAILS)
            lead, vowel = divmod(syllable, _HANGUL_VOWELS)
            jamo = chr(0x1100 + lead) + chr(0x1161 + vowel)
            return jamo + chr(0x11A7 + tail) if tail else jamo
        dropped, barrier, separate = (bisect_right(edges, point) & 1 for edges in self._sets)
        if dropped:
            return ""
        if barrier:
            return BARRIER
        fate = self._replaced.get(point) or chr(point)
        return f" {fate} " if separate else fate

    def __missing__(self, point: int) -> str:
        if not self._sets:
            self._decode()
        if len(self) >= self.BOUND:
            self.clear()
        fate = " " if chr(point) in _unicode.SPACES else self._fate(point)
        self[point] = fate
        return fate


_CHARACTERS = _CharacterMap()


def _translate(text: str) -> str:
    return text.translate(_CHARACTERS)


def _sort_marks(text: str) -> str:
    # Given as text, the pattern is compiled when first used: ASCII texts come without it.
    return text if text.isascii() else re.sub(_MARK_RUN, _sorted, text)


def _sorted(run: re.Match[str]) -> str:
    return "".join(sorted(run.group(), key=_MARK_RANK.__getitem__))


def words(text: str) -> list[str]:
    """The words of a text of moderate length: work and memory grow with the whole of it."""
    return _sort_marks(_translate(text)).replace(BARRIER, "").split()


class WordStream:
    """The words of a text that comes in parts, cut anywhere.

    Between parts it keeps the unfinished word, at most about 2 · MAX_WORD characters of it: the
    rest cannot change a word that is too long already.
    """

    def __init__(self) -> None:
        self._word = ""  # start of the unfinished word, settled
        self._marks = ""  # the marks that end it: marks of the next part may go before them

    def feed(self, part: str) -> list[str]:
        """The words that `part` completes."""
        text = _sort_marks(self._marks + _translate(part))
        settled = text.rstrip(_MARKS)
        # A run over MAX_WORD is in a word that is too long: then neither order nor number matters.
        self._marks = text[len(settled) :][: MAX_WORD + 1]
        *complete, word = (self._word + settled.replace(BARRIER, "")).split(" ")
        self._word = word[: MAX_WORD + 1]
        return [word for word in complete if word]

    def finish(self) -> list[str]:
        """The last word, if there is one. The stream is as new afterwards."""
        word = self._word + self._marks
        self._word = self._marks = ""
        return [word] if word else []
