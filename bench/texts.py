"""The texts of the benchmark: natural English of exact token counts, none of them used twice.

`sentences.txt` holds 3,900 distinct sentences, half of them from the documentation of SQLite and
half from the novels of Jane Austen, both in the public domain. A benchmark that repeats a few texts
measures a tokenizer's cache, not the tokenizer. Here every timed text is new to the engine, after a
warm-up on a thousand others; about a fifth of its words between spaces have not been seen either,
which is what a stream of real sentences brings.

Short texts are single sentences of just the right length. Long ones are sentences set side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SENTENCES = Path(__file__).with_name("sentences.txt")

# [CLS] and [SEP], which every text has.
FRAME = 2
# Texts of more tokens than this are put together from several sentences.
LONGEST_SINGLE = 32
# A text under construction is never left with fewer pieces to fill: a sentence must fit exactly.
LEAST_REMAINDER = 16


@dataclass(frozen=True)
class Item:
    """A text and its token ids, [CLS] and [SEP] included."""

    text: str
    ids: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """What is run, in order: the warm-up, then rounds of {token count: texts of that count}."""

    warmup: list[Item]
    rounds: list[dict[int, list[Item]]]

    def items(self) -> Iterable[Item]:
        yield from self.warmup
        for sizes in self.rounds:
            for items in sizes.values():
                yield from items


def sentences() -> list[str]:
    return SENTENCES.read_text("utf-8").splitlines()


def _fits(pieces: int, *, exact: int, most: int) -> bool:
    return pieces == exact or pieces <= most


class _Pool:
    """Sentences not used yet, in their order."""

    def __init__(self, texts: Iterable[str], tokenize: Callable[[str], Sequence[int]]) -> None:
        self.tokenize = tokenize
        self._left: deque[tuple[int, str]] = deque(
            (len(tokenize(text)) - FRAME, text) for text in texts
        )

    def _take(self, fits: Callable[[int], bool], wanted: str) -> tuple[int, str]:
        for index, (pieces, text) in enumerate(self._left):
            if fits(pieces):
                del self._left[index]
                return pieces, text
        raise ValueError(f"{SENTENCES.name} has no unused sentence of {wanted}")

    def _item(self, text: str, tokens: int) -> Item:
        ids = tuple(self.tokenize(text))
        if len(ids) != tokens:
            raise ValueError(f"{len(ids)} tokens instead of {tokens}: {text!r}")
        return Item(text, ids)

    def single(self, tokens: int) -> Item:
        _, text = self._take(lambda pieces: pieces + FRAME == tokens, f"{tokens} tokens")
        return self._item(text, tokens)

    def joined(self, tokens: int) -> Item:
        parts: list[str] = []
        to_fill = tokens - FRAME
        while to_fill > 0:
            fits = partial(_fits, exact=to_fill, most=to_fill - LEAST_REMAINDER)
            pieces, text = self._take(fits, f"{to_fill} pieces or {LEAST_REMAINDER} fewer")
            parts.append(text)
            to_fill -= pieces
        return self._item(" ".join(parts), tokens)

    def any(self) -> Item:
        pieces, text = self._take(lambda pieces: True, "any length")
        return self._item(text, pieces + FRAME)


def make_plan(
    texts: Iterable[str],
    tokenize: Callable[[str], Sequence[int]],
    *,
    per_round: Mapping[int, int],
    rounds: int,
    warmup: int,
) -> Plan:
    """Deal the sentences out: `per_round` gives, for each token count, the texts of one round.

    Raises ValueError when there are too few sentences.
    """
    pool = _Pool(texts, tokenize)
    dealt: list[dict[int, list[Item]]] = [{} for _ in range(rounds)]
    # Single sentences first, so that the long texts leave them their lengths.
    for tokens in sorted(per_round):
        make = pool.single if tokens <= LONGEST_SINGLE else pool.joined
        for sizes in dealt:
            sizes[tokens] = [make(tokens) for _ in range(per_round[tokens])]
    return Plan([pool.any() for _ in range(warmup)], dealt)
