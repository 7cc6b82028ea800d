"""Random texts that are hard on a tokenizer: mixtures of a few alphabets each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from tern_engine import _unicode
from tern_engine._normalize import SPECIAL_TOKENS

MAX_POINT = 0x10FFFF


def ranges(table: str) -> list[tuple[int, int]]:
    """The first and last code points of a range table of _unicode."""
    parts = (item.partition("-") for item in table.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in parts]


def table_boundaries() -> list[int]:
    """Both ends of every range of every table, with their neighbours."""
    edges = {point for char in _unicode.SPACES for point in (ord(char), ord(char))}
    for table in (_unicode.DROPPED, _unicode.BARRIERS, _unicode.SEPARATE):
        edges |= {point for pair in ranges(table) for point in pair}
    for first, text in _unicode.REPLACED:
        edges |= {first, first + len(text) - 1}
    edges |= _unicode.EXPANDED.keys() | {ord(mark) for group in _unicode.MARKS for mark in group}
    edges |= {0xAC00, 0xD7A3, 0xD800, 0xDFFF, 0, 0x7F, 0x80, 0xFFFF, 0x10000, MAX_POINT}
    near = {edge + step for edge in edges for step in (-1, 0, 1)}
    return sorted(point for point in near if 0 <= point <= MAX_POINT)


def _span(first: int, last: int) -> list[str]:
    return [chr(point) for point in range(first, last + 1)]


def _of_table(table: str) -> list[str]:
    return [chr(point) for pair in ranges(table) for point in pair]


ALPHABETS: dict[str, list[str]] = {
    "ascii": _span(0x20, 0x7E),
    "letters": _span(0x61, 0x7A),
    "controls": _span(0, 0x20) + _span(0x7F, 0xA0) + ["\xad", "\u200b", "\u200d", "\ufeff"],
    "latin": _span(0xA1, 0x24F),
    "scripts": _span(0x250, 0x1FFF),
    "spaces": [*_unicode.SPACES, "\x0b", "\x1c", "\x1f", "\x85", "\u180e", "\u200b"],
    "marks": [mark for group in _unicode.MARKS for mark in group],
    "dropped": _of_table(_unicode.DROPPED),
    "barriers": _of_table(_unicode.BARRIERS),
    "separate": _of_table(_unicode.SEPARATE),
    "expanded": [chr(point) for point in _unicode.EXPANDED],
    "hangul": [chr(0xAC00 + 37 * step) for step in range(302)] + _span(0x1100, 0x11FF),
    "boundaries": [chr(point) for point in table_boundaries()],
    "special": [*SPECIAL_TOKENS * 3, "[", "]", "[[", "MASK]", "[MAS", "[mask]", "[CLS", "##", " "],
    "words": [
        "the",
        "Unbelievable",
        "embedding",
        "s",
        "ΟΔΟΣ",
        "straße",
        "中文",
        "한국어",
        "ing",
        " ",
    ],
}


def _any(chooser: random.Random) -> str:
    return chr(chooser.randrange(MAX_POINT + 1))


def _from(alphabet: list[str]) -> Callable[[random.Random], str]:
    return lambda chooser: chooser.choice(alphabet)


def mixtures(seed: int, longest: int = 32) -> Iterator[str]:
    """Endless: texts of at most `longest` units from one to four alphabets."""
    chooser = random.Random(seed)
    sources = [_any, *map(_from, ALPHABETS.values())]
    while True:
        mixed = chooser.sample(sources, chooser.randint(1, 4))
        size = chooser.randint(0, longest)
        yield "".join(chooser.choice(mixed)(chooser) for _ in range(size))
