"""Query-like texts made from longer ones: the teacher labels any text."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_EDGE_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been by can could did do does for from had has have he her "
        "his how i if in into is it its may no not of on or our she should so such than "
        "that the their them then there these they this those to was we were what when "
        "where which who whom whose why will with would you your ",
    )
)
_OPENINGS = (
    "what is",
    "how to",
    "define",
    "best",
    "who is",
    "where is",
    "cost of",
    "types of",
    "what does",
    "history of",
    "symptoms of",
    "meaning of",
)
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_MARKS = re.compile(r"[\"“”()\[\],;:!?]+")


def webbed(text: str, rng: random.Random) -> str:
    """Half of the questions lose their mark and their capitals, as people type them."""
    if text.endswith("?") and rng.random() < 0.5:
        return text.rstrip(" ?").lower()
    if len(text) < 90 and rng.random() < 0.2:
        return " ".join(_MARKS.sub(" ", text).split()).rstrip(".").lower()
    return text


def span(text: str, rng: random.Random) -> str | None:
    """A run of 1–6 words cut from the text, trimmed of function words; None where none is left.

    One in five keeps scattered content words instead of a run; one in twelve gains an opening.
    """
    words = _WORD.findall(text.lower())
    if len(words) < 3:
        return None
    length = rng.choices((1, 2, 3, 4, 5, 6), (8, 26, 28, 20, 12, 6))[0]
    if rng.random() < 0.2:
        content = [i for i, word in enumerate(words) if word not in _EDGE_WORDS and len(word) > 2]
        picked = sorted(rng.sample(content, min(length, len(content))))
        chosen = [words[i] for i in picked]
    else:
        start = rng.randrange(max(1, len(words) - length + 1))
        chosen = words[start : start + length]
        while chosen and chosen[0] in _EDGE_WORDS:
            chosen.pop(0)
        while chosen and chosen[-1] in _EDGE_WORDS:
            chosen.pop()
    if not chosen:
        return None
    if rng.random() < 1 / 12:
        chosen.insert(0, rng.choice(_OPENINGS))
    return " ".join(chosen)


def crossed(queries: list[str], count: int, rng: random.Random) -> Iterator[str]:
    """New queries: the first words of one query with the last words of another."""
    for _ in range(count):
        first, second = (rng.choice(queries).split() for _ in range(2))
        head = first[: rng.randint(1, max(1, min(3, len(first))))]
        tail = second[-rng.randint(1, max(1, min(3, len(second)))) :]
        yield " ".join(head + tail)


def passages(lines: list[str], count: int, rng: random.Random) -> Iterator[str]:
    """Texts of 60–110 words glued from consecutive lines, starting anywhere."""
    for _ in range(count):
        at = rng.randrange(len(lines))
        goal = rng.randint(60, 110)
        words: list[str] = []
        while at < len(lines) and len(words) < goal:
            words += lines[at].split()
            at += 1
        yield " ".join(words[:goal])
