"""Statement-like sentences made for training: the teacher labels any text.

Most open text here is questions, definitions and documentation. What people compare with each other
is often something else: scenes, reports, advice, and two versions of nearly the same sentence.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

LEXICON = Path(__file__).with_name("scenes.toml")
FEWEST_WORDS, MOST_WORDS = 5, 30
_JOINTS = frozenset(
    re.findall(
        r"\w+",
        "of in with on at for and to by from that because when while but is are was were "
        "has have which who as after before into about if than or",
    )
)
_DROPPED_IN_HEADLINES = frozenset(
    re.findall(r"\w+", "a an the is are was were be been being has have had")
)
_SMALL_NUMBERS = ("Two", "Three", "Four", "A group of", "Several", "Some", "A few", "A couple of")


@cache
def lexicon() -> dict[str, list[str]]:
    """Word lists of scenes.toml."""
    return {k: list(v) for k, v in tomllib.loads(LEXICON.read_text("utf-8")).items()}


def is_statement(text: str) -> bool:
    """A sentence of FEWEST_WORDS to MOST_WORDS plain words with a capital and a full stop."""
    words = text.split()
    if not (FEWEST_WORDS <= len(words) <= MOST_WORDS and text[0].isupper() and text[-1] == "."):
        return False
    return sum(word.isalpha() and word.islower() for word in words) >= 0.6 * len(words)


def _article(noun: str, rng: random.Random) -> str:
    if rng.random() < 0.2:
        return f"the {noun}"
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _scene(rng: random.Random, words: dict[str, list[str]]) -> str:
    def one(name: str) -> str:
        return rng.choice(words[name])

    kind = rng.random()
    if kind < 0.12:
        text = f"{_article(one('things'), rng)} {one('states')}"
    elif kind < 0.34:
        text = f"{_article(one('animals'), rng)} is {one('animal_actions')}"
        if rng.random() < 0.15:
            text = f"{_article(one('animals'), rng)} and {text.replace(' is ', ' are ')}"
    elif kind < 0.50:
        text = f"{rng.choice(_SMALL_NUMBERS)} {one('crowds')} are {one('actions')}"
    else:
        who = _article(one("people"), rng)
        if rng.random() < 0.3:
            who += f" {one('looks')}"
        if rng.random() < 0.08:
            who += f" and {_article(one('people'), rng)}"
        text = f"{who} is {one('actions')}"
        if rng.random() < 0.08:
            text += f" and {one('actions')}"
    if rng.random() < 0.5:
        text += f" {one('places')}"
    elif rng.random() < 0.2:
        text += f" with {_article(one('people'), rng)}"
    if rng.random() < 0.08:
        text = text.replace(" is ", " is not ", 1).replace(" are ", " are not ", 1)
    elif rng.random() < 0.25:
        text = text.replace(" is ", " ", 1).replace(" are ", " ", 1)
    return text


def _report(rng: random.Random, words: dict[str, list[str]]) -> str:
    def one(name: str) -> str:
        return rng.choice(words[name])

    who = one("actors") if rng.random() < 0.4 else f"{one('countries')} {one('actors')}"
    if rng.random() < 0.2:
        who = one("countries")
    text = f"{who} {one('reports')}".replace("{country}", one("countries"))
    if rng.random() < 0.3:
        text += f" in {one('countries')}"
    if rng.random() < 0.25:
        text += f" on {one('days')}" if rng.random() < 0.6 else f", {one('actors')} {one('saying')}"
    return text


def _opinion(rng: random.Random, words: dict[str, list[str]]) -> str:
    text = f"{rng.choice(words['opinions'])} {rng.choice(words['advice'])}"
    return f"{text} {rng.choice(words['reasons'])}" if rng.random() < 0.6 else text


def scenes(count: int, rng: random.Random) -> Iterator[str]:
    """Sentences from the lexicon: six scenes to three reports and one piece of advice.

    Every fourth is followed by a version of itself in other words: one part is drawn anew.
    """
    words = lexicon()
    made = 0
    while made < count:
        make = rng.choices((_scene, _report, _opinion), (6, 3, 1))[0]
        text = make(rng, words)
        yield _finished(text, rng)
        made += 1
        if rng.random() < 0.25:
            yield _finished(_varied(text, rng, words), rng)
            made += 1


def _finished(text: str, rng: random.Random) -> str:
    shown = text[0].upper() + text[1:]
    return shown + "." if rng.random() < 0.75 else shown


def _varied(text: str, rng: random.Random, words: dict[str, list[str]]) -> str:
    found = [(name, w) for name, held in words.items() for w in held if f" {w} " in f" {text} "]
    if not found:
        return text
    name, old = rng.choice(found)
    return f" {text} ".replace(f" {old} ", f" {rng.choice(words[name])} ", 1).strip()


class Neighbours:
    """Words and sentence ends as they follow a word somewhere in a source."""

    def __init__(self, statements: Sequence[str]) -> None:
        self.statements = statements
        self.after: dict[str, list[str]] = defaultdict(list)
        self.ends: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, text in enumerate(statements):
            words = text.split()
            for at, (word, follower) in enumerate(pairwise(words)):
                if word.lower() in _JOINTS:
                    self.ends[word.lower()].append((number, at + 1))
                if follower.isalpha() and len(follower) > 3:
                    self.after[word.lower()].append(follower)

    def spliced(self, rng: random.Random) -> str | None:
        """The beginning of one sentence and the end of another, joined at a word both have."""
        words = rng.choice(self.statements).split()
        cuts = [i for i, word in enumerate(words[1:-1], 1) if word.lower() in _JOINTS]
        if not cuts:
            return None
        cut = rng.choice(cuts)
        number, at = rng.choice(self.ends[words[cut].lower()])
        joined = words[: cut + 1] + self.statements[number].split()[at:]
        return " ".join(joined) if len(joined) <= MOST_WORDS else None

    def edited(self, rng: random.Random) -> str:
        """A sentence with one or two words left out, exchanged or moved; words come from the same
        place of another sentence: after the same word."""
        words = rng.choice(self.statements).split()
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randrange(1, len(words))
            chance = rng.random()
            if chance < 0.55:
                found = self.after.get(words[at - 1].lower())
                if found:
                    mark = re.search(r"\W*$", words[at])
                    words[at] = rng.choice(found) + (mark[0] if mark else "")
            elif chance < 0.85:
                if len(words) > 4:
                    del words[at]
            else:
                words[at - 1 : at + 1] = reversed(words[at - 1 : at + 1])
        return " ".join(words)

    def headline(self, rng: random.Random) -> str | None:
        """A sentence as a headline: no articles, no forms of "be", 3 to 12 words, no full stop."""
        text = self.spliced(rng) if rng.random() < 0.5 else rng.choice(self.statements)
        if text is None:
            return None
        kept = [w for w in text.rstrip(".").split() if w.lower() not in _DROPPED_IN_HEADLINES]
        kept = kept[:12]
        while kept and kept[-1].lower() in _JOINTS:
            kept.pop()
        return " ".join([kept[0][0].upper() + kept[0][1:], *kept[1:]]) if len(kept) > 2 else None
