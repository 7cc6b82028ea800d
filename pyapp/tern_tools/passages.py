"""Texts cut into passages that the model reads whole: docs/index-format.md, section 5."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from .sentences import Range, sentence_ranges, trim, white_positions

# Of a text: (tokens, whether it was cut to reach them).
CountTokens = Callable[[str], tuple[int, bool]]


def cut_passages(text: str, limit: int, count: CountTokens) -> list[Range]:
    """The passages of a text, in order, each of at most `limit` tokens."""
    start, end = trim(text, 0, len(text))
    if start == end:
        return []
    if _tokens(text, (start, end), limit, count) is not None:
        return [(start, end)]
    overhead = count("")[0]
    passages: list[Range] = []
    total = limit + 1
    for part, tokens in _parts(text, limit, count):
        joined = total + tokens - overhead
        if passages and joined <= limit:
            passages[-1] = (passages[-1][0], part[1])
            total = joined
        else:
            passages.append(part)
            total = tokens
    return passages


def _tokens(text: str, part: Range, limit: int, count: CountTokens) -> int | None:
    """None where the range does not fit."""
    tokens, truncated = count(text[part[0] : part[1]])
    return None if truncated or tokens > limit else tokens


def _parts(text: str, limit: int, count: CountTokens) -> Iterator[tuple[Range, int]]:
    """Sentences, and the parts of those too long, with their tokens."""
    for sentence in sentence_ranges(text):
        waiting = [sentence]  # still to count, the next one last
        white: Sequence[int] | None = None  # found once, where the sentence is to be cut
        while waiting:
            part = waiting.pop()
            tokens = _tokens(text, part, limit, count)
            if tokens is not None:
                yield part, tokens
            elif part[1] - part[0] == 1:
                yield part, limit
            else:
                if white is None:
                    white = white_positions(text, *sentence)
                waiting.extend(reversed(_halves(text, part, white)))


def _halves(text: str, part: Range, white: Sequence[int]) -> list[Range]:
    """A range of two code points or more, neither end white, cut near its middle.

    `white` has the white positions in it, in order, and maybe others.
    """
    start, end = part
    middle = start + (end - start) // 2
    after = bisect_right(white, middle)
    if after > 0 and white[after - 1] > start:
        cut = white[after - 1]
    else:
        cut = white[after] if after < len(white) and white[after] < end else middle
    return [trim(text, start, cut), trim(text, cut, end)]
