"""Replies made for training: what they are made of, and how they join a plan."""

from __future__ import annotations

import gzip
import random
import re
from pathlib import Path

import pytest

from tests.training.conftest import commands, run_module
from training.distill import replies
from training.distill.corpus import build, read_plan, save
from training.distill.extend import extend
from training.distill.record import _plan
from training.distill.replies import MOST_WORDS, Replies, action, actions, lexicon
from training.distill.sources import REPLIES, SOURCES
from training.distill.textkeys import forbidden_keys, key

QUESTIONS = [
    "How do I sharpen a kitchen knife?",
    "Is it rude to leave my plate half full ?",
    "how to sharpen a kitchen knife",
    "Who wrote the third symphony?",
]


def test_what_a_question_asks_about() -> None:
    assert action("How do I sharpen a kitchen knife?") == "sharpen a kitchen knife"
    assert action("Is it rude to leave my plate half full ?") == "leave your plate half full"
    assert action("Please tell me how to Change a tire") == "change a tire"
    assert action("i'd like to book a table for me") == "book a table for you"
    for other in (
        "Who wrote the third symphony?",
        "how do i?",
        "how to swim",
        "How do you do? How to swim well?",
        "can i not go home",
        "how to " + "very " * MOST_WORDS + "long",
    ):
        assert action(other) is None, other
    assert actions(QUESTIONS) == ["sharpen a kitchen knife", "leave your plate half full"]


def test_replies_advise_what_was_asked_about() -> None:
    held = Replies(QUESTIONS)
    made = [held.reply(random.Random(seed)) for seed in range(2_000)]
    assert made[:50] == [held.reply(random.Random(seed)) for seed in range(50)]
    assert len(set(made)) > 1_500
    assert not [text for text in made if re.search(r"[{}]|\d$", text) or not text[0].isupper()]
    advising = [text for text in made if any(a in text for a in held.actions)]
    assert 0.3 * len(made) < len(advising) < 0.8 * len(made), "the others are general remarks"
    known = {key(opening) for opening in lexicon()["openings"]}
    assert sum(any(key(text).startswith(o) for o in known) for text in advising) > 500
    with pytest.raises(ValueError, match="none of 1 questions"):
        Replies(["Who wrote the third symphony?"])


def test_a_pair_differs_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {
        "openings": [*"abcdefgh"],
        "remarks": [*"stuvwxyz"],
        "turns": ["{opening}-{vp}-{remark}"],
    }
    words |= {name: ["nobody"] for name in ("who", "modals", "things")}
    monkeypatch.setattr(replies, "lexicon", lambda: words)
    held = Replies([f"how to do {letter}" for letter in "ijklmnop"])
    rng = random.Random(6)
    changed = [0, 0, 0]
    for _ in range(300):
        pair = [text.lower().rstrip(".!").split("-") for text in held.pair(rng)]
        differing = [place for place in range(3) if pair[0][place] != pair[1][place]]
        assert len(differing) <= 1
        for place in differing:
            changed[place] += 1
    assert min(changed) > 50


@pytest.fixture
def asking(data: Path, tmp_path: Path) -> Path:
    """The test's data with a source of questions, one of which is an evaluation text."""
    root = tmp_path / "data"
    (root / "corpus").mkdir(parents=True)
    (root / "eval").symlink_to(data / "eval")
    for name in ("wordnet", "trec_queries"):
        (root / "corpus" / f"{name}.txt.gz").symlink_to(data / "corpus" / f"{name}.txt.gz")
    lines = [f"How do you repair the {n}th gear of an old tractor ?" for n in range(300)]
    with gzip.open(root / "corpus" / "wellformed.txt.gz", "wt") as out:
        out.writelines(f"{line}\n" for line in lines)
    return root


def test_replies_join_a_plan(asking: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERN_TRAINING_CACHE", str(tmp_path))
    older, posts = tmp_path / "corpus" / "older", tmp_path / "corpus" / "posts"
    save(build(asking, 0.06), older)
    first = read_plan(older / "plan.txt.gz")
    plan = extend(asking, older, 0.01, "replies")
    fresh = plan.texts[len(first) :]
    assert plan.texts[: len(first)] == first
    assert {origin for _, origin in fresh} == {"reply:wellformed"}
    assert 0.6 * REPLIES["wellformed"] < 100 * len(fresh) < 1.1 * REPLIES["wellformed"]
    assert any("gear of an old tractor" in text for text, _ in fresh)
    keys = [key(text) for text, _ in plan.texts]
    assert len(set(keys)) == len(keys) and not set(keys) & forbidden_keys(asking)
    assert set(REPLIES) <= {source.name for source in SOURCES}
    save(plan, posts)
    stated = _plan("posts", [], None)
    assert (stated["after"], stated["adds"]) == ("older", "replies"), "the card's commands say so"
    made = {source["name"]: source["made"] for source in stated["sources"]}
    assert made["wellformed"]["reply"] == len(fresh)


def test_the_documented_replies(asking: Path, tmp_path: Path) -> None:
    """The README's command, on the sample."""
    save(build(asking, 0.06), tmp_path / "corpus" / "wide")
    (command,) = [c for c in commands("distill/README.md", "A wider plan") if "replies" in c]
    arguments = [str(asking) if part == "DIR" else part for part in command]
    printed = run_module(tmp_path, *arguments, "--scale", "0.01")
    assert '"reply:wellformed"' in printed
    assert (tmp_path / "corpus" / "posts" / "plan.txt.gz").exists()
