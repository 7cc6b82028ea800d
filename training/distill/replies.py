"""Replies as people write them in forums, made for training: the teacher labels any text.

What a question asks about becomes what a reply advises: "How do I sharpen a knife?" gives "sharpen
a knife", and "You should not sharpen a knife at home." follows from it and replies.toml.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

LEXICON = Path(__file__).with_name("replies.toml")
FEWEST_WORDS, MOST_WORDS = 2, 14
_ASKED = re.compile(
    r"^(?:(?:so|and|but|hi|ok|okay|please tell me|tell me|i want to know|do you know) )?"
    r"(?:how to"
    r"|how (?:do|can|should|would) (?:you|i|we|they|one)"
    r"|what is the (?:best|easiest|correct|right|proper) way to"
    r"|(?:best|easy) way to"
    r"|is there (?:a|any) (?:\w+ )?way to"
    r"|is it (?:possible|okay|ok|legal|safe|rude|bad|wrong|normal) to"
    r"|(?:can|should|may) (?:i|you|we)"
    r"|do (?:i|you|we) (?:have|need) to"
    r"|i (?:want|need|would like|have) to|i'd like to)"
    r" (?P<action>.+)$",
    re.IGNORECASE,
)
_OWN = {"my": "your", "me": "you", "i": "you", "i'm": "you are", "i've": "you have", "our": "your"}
_ENDS = re.compile(r"\s*[?!.,;:]+$")
_NO_VERBS = frozenset(
    re.findall(
        r"\w+",
        "i you we they he she it a an the this that these those my your our be not many much long "
        "far old often big so only also no to in on of for with is are was there please",
    )
)


@cache
def lexicon() -> dict[str, list[str]]:
    """Word lists of replies.toml."""
    return {k: list(v) for k, v in tomllib.loads(LEXICON.read_text("utf-8")).items()}


def action(question: str) -> str | None:
    """What is asked about, as a verb in its base form and what goes with it, to somebody as "you".

    None where a text asks nothing of that form, or in fewer than FEWEST_WORDS or more than
    MOST_WORDS words.
    """
    found = _ASKED.match(_ENDS.sub("", question.strip()))
    if not found or "?" in found["action"]:
        return None
    words = [_OWN.get(word.lower(), word) for word in found["action"].split()]
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS or words[0].lower() in _NO_VERBS:
        return None
    return " ".join([words[0][0].lower() + words[0][1:], *words[1:]])


def actions(questions: Sequence[str]) -> list[str]:
    """The actions of all questions that ask about one, each once, in their order."""
    return list(dict.fromkeys(made for text in questions if (made := action(text))))


class Replies:
    """Replies about the actions of some questions."""

    def __init__(self, questions: Sequence[str]) -> None:
        """ValueError where no question asks about an action."""
        self.actions = actions(questions)
        if not self.actions:
            raise ValueError(f"none of {len(questions)} questions asks about an action")

    def reply(self, rng: random.Random) -> str:
        """One reply: a turn of replies.toml with its places filled."""
        return self._filled(rng.choice(lexicon()["turns"]), {}, rng)

    def pair(self, rng: random.Random) -> Iterator[str]:
        """A reply, and the same in other words: one of its places is filled anew."""
        turn = rng.choice(lexicon()["turns"])
        chosen: dict[str, str] = {}
        yield self._filled(turn, chosen, rng)
        del chosen[rng.choice(sorted(chosen))]
        yield self._filled(turn, chosen, rng)

    def _filled(self, turn: str, chosen: dict[str, str], rng: random.Random) -> str:
        """`turn` with each place as `chosen` says, or by chance, which is then noted there."""

        def place(found: re.Match[str]) -> str:
            name = found[1]
            if name not in chosen:
                chosen[name] = self._drawn(name.lower().rstrip("2"), rng)
            return chosen[name]

        text = re.sub(r"\{(\w+)\}", place, turn)
        text = text[0].upper() + text[1:]
        return text + rng.choices((".", "", "!"), (80, 18, 2))[0]

    def _drawn(self, kind: str, rng: random.Random) -> str:
        words = lexicon()
        if kind == "vp":
            return rng.choice(self.actions)
        if kind != "remark":
            return rng.choice(words[f"{kind}s"])
        named = {"who": words["who"], "modal": words["modals"], "thing": words["things"]}
        return re.sub(r"\{(\w+)\}", lambda m: rng.choice(named[m[1]]), rng.choice(words["remarks"]))
