"""Where sentences end, by fixed character lists: docs/index-format.md, section 4."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Sequence

from ._check import check_string

Range = tuple[int, int]

# Inside of regular expression sets.
_WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_WIDE = "\u3002\uff01\uff1f\uff61"
_STOP = (
    ".!?\u2026\u203c\u2047\u2048\u2049\uff0e\u061f\u06d4\u0589\u0964\u0965"
    "\u1362\u1367\u1368\u17d4\u17d5\u104b" + _WIDE
)
_CLOSER = (
    "\"')\\]}\xab\xbb\u2018\u2019\u201c\u201d\u203a"
    "\u3009\u300b\u300d\u300f\u3011\u3015\uff02\uff09\uff3d\uff5d"
)

_SPACE = re.compile(f"[{_WHITE}]*")
_ONE_WHITE = re.compile(f"[{_WHITE}]")
_NOT_WHITE = re.compile(f"[^{_WHITE}]")
# What may end a sentence: a run of white, or a stop and what follows it directly.
_END = re.compile(f"(?P<white>[{_WHITE}]+)|[{_STOP}][{_STOP}{_CLOSER}]*")
_IS_WIDE = re.compile(f"[{_WIDE}]")
_IS_STOP = re.compile(f"[{_STOP}]")
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028]")
_LOWER = re.compile("[a-zß-öø-ÿά-ώа-џ]")
_WORD = re.compile("[A-Za-z.]")
_INITIAL = re.compile("[A-HJ-Z]")
_SHORT = (
    "Mr Mrs Ms Dr Prof Rev Gen Sen Rep Gov Capt Lt Col Sgt St Mt Ft Jr Sr vs cf al Fig Figs Eq No "
    "Nos Vol pp Ed Eds Inc Ltd Co Corp approx ca Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
_ABBREVIATIONS = frozenset(_SHORT.split())


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, the same as web/search.js gives. Raises InvalidInputError."""
    check_string(text, "text")
    return [text[start:end] for start, end in sentence_ranges(text)]


def sentence_ranges(text: str) -> Iterator[Range]:
    """The sentences of a text, in order, without the white space around them."""
    start = white_end(text, 0)
    while start < len(text):
        end = _sentence_end(text, start)
        yield start, end
        start = white_end(text, end)


def white_end(text: str, at: int) -> int:
    """The next position that is not white, from `at` on."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def white_positions(text: str, start: int, end: int) -> Sequence[int]:
    """Where white stands in a range, in order."""
    # Not a list, which takes nine times the memory: a sentence may be a file of 16 MiB.
    return array("I", (match.start() for match in _ONE_WHITE.finditer(text, start, end)))


def is_white(character: str) -> bool:
    return _NOT_WHITE.match(character) is None


def trim(text: str, start: int, end: int) -> Range:
    """The range without the white at its ends; empty where it is all white."""
    while start < end and is_white(text[start]):
        start += 1
    while end > start and is_white(text[end - 1]):
        end -= 1
    return start, end


def _sentence_end(text: str, start: int) -> int:
    for match in _END.finditer(text, start):
        if match["white"]:
            if match.end() == len(text) or _breaks_paragraph(match.group()):
                return match.start()
        elif _ends(text, start, match.start(), match.end()):
            return match.end()
    return len(text)


def _ends(text: str, start: int, at: int, end: int) -> bool:
    """Whether a run of stops and closers ends the sentence that it stands in."""
    if end == len(text) or _IS_WIDE.search(text, at, end):
        return True
    following = white_end(text, end)
    if following == end:
        return False
    if following == len(text) or _breaks_paragraph(text[end:following]):
        return True
    if _LOWER.match(text, following):
        return False
    one_dot = text[at] == "." and not _IS_STOP.search(text, at + 1, end)
    return not (one_dot and _is_abbreviation(text, start, at))


def _is_abbreviation(text: str, start: int, end: int) -> bool:
    at = end
    while at > start and _WORD.match(text[at - 1]):
        at -= 1
    word = text[at:end]
    initial = _INITIAL.fullmatch(word) is not None
    return "." in word or initial or word in _ABBREVIATIONS


def _breaks_paragraph(white: str) -> bool:
    return "\u2029" in white or len(_LINE_END.findall(white)) >= 2
