"""Sentences made for training: their kinds, their sources, and what is kept out."""

from __future__ import annotations

import gzip
import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

from tests.training.conftest import commands, run_module
from training.distill.corpus import build, read_plan, save
from training.distill.extend import extend, take_over
from training.distill.sentences import Neighbours, is_statement, lexicon, scenes
from training.distill.sources import SENTENCES, SOURCES
from training.distill.textkeys import forbidden_keys, key

STATEMENTS = [
    "The small boat drifted slowly towards the rocks.",
    "The old harbour is full of boats in the morning.",
    "The small engine was repaired by the old mechanic.",
]


def test_statements_are_told_from_other_lines() -> None:
    assert all(is_statement(text) for text in STATEMENTS)
    assert not is_statement("what is the capital of france")
    assert not is_statement("Too short.")
    assert not is_statement("SELECT * FROM t WHERE a = 1 AND b = 2.")


def test_scenes_are_of_the_lexicon_and_come_in_versions() -> None:
    made = list(scenes(2_000, random.Random(1)))
    assert made == list(scenes(2_000, random.Random(1)))
    assert len({key(text) for text in made}) > 1_500
    known = {word for held in lexicon().values() for phrase in held for word in phrase.split()}
    words = [word for text in made for word in key(text).split()]
    assert sum(word in {key(w) for w in known} for word in words) > 0.6 * len(words)
    close = [
        len(set(a.split()) ^ set(b.split()))
        for a, b in pairwise(made)
        if a.split()[:2] == b.split()[:2]
    ]
    assert sum(2 <= distance <= 6 for distance in close) > 100, "versions of the one before"


def test_spliced_sentences_meet_at_a_word_that_both_have() -> None:
    held = Neighbours(STATEMENTS)
    rng = random.Random(2)
    made = {text for _ in range(200) if (text := held.spliced(rng))}
    fresh = made - set(STATEMENTS)
    assert "The old harbour is full of boats in the morning." in made
    assert not fresh, "each joint occurs once here, so a sentence only meets itself"
    held = Neighbours([*STATEMENTS, "The news was full of storms in the north."])
    made = {text for _ in range(400) if (text := held.spliced(rng))}
    assert "The old harbour is full of storms in the north." in made
    assert "The small engine was full of storms in the north." in made


def test_edited_sentences_stay_close_to_their_source() -> None:
    held = Neighbours(STATEMENTS)
    rng = random.Random(3)
    sources = [set(key(text).split()) for text in STATEMENTS]
    made = [held.edited(rng) for _ in range(300)]
    assert len(set(made) - set(STATEMENTS)) > 30
    assert all(min(len(set(key(t).split()) ^ s) for s in sources) <= 4 for t in made)
    assert "The small boat drifted towards the rocks." in made, "one word left out"


def test_headlines_have_no_articles_and_no_full_stop() -> None:
    held = Neighbours(STATEMENTS)
    rng = random.Random(4)
    made = {text for _ in range(100) if (text := held.headline(rng))}
    assert "Old harbour full of boats in morning" in made
    assert all(3 <= len(text.split()) <= 12 and not text.endswith(".") for text in made)


@pytest.fixture
def statements(data: Path, tmp_path: Path) -> Path:
    """The test's data with a source of statements; one of them is an evaluation text."""
    root = tmp_path / "data"
    (root / "corpus").mkdir(parents=True)
    (root / "eval").symlink_to(data / "eval")
    for name in ("wordnet", "trec_queries"):
        (root / "corpus" / f"{name}.txt.gz").symlink_to(data / "corpus" / f"{name}.txt.gz")
    lines = [f"The {n}th ship of the fleet was seen in the bay of the island." for n in range(90)]
    with gzip.open(root / "corpus" / "fortunes.txt.gz", "wt") as out:
        out.writelines(f"{line}\n" for line in [*lines, *STATEMENTS, "The rest of the abstract."])
    return root


def test_a_plan_is_extended_and_its_chunks_are_kept(statements: Path, tmp_path: Path) -> None:
    older, wide = tmp_path / "older", tmp_path / "wide"
    save(build(statements, 0.06), older)
    first = read_plan(older / "plan.txt.gz")
    plan = extend(statements, older, 0.01)
    assert plan.texts[: len(first)] == first and len(plan.texts) > len(first) + 1_000
    assert extend(statements, older, 0.01).texts == plan.texts
    keys = [key(text) for text, _ in plan.texts]
    assert len(set(keys)) == len(keys)
    assert not set(keys) & {key(text) for text, _ in plan.held_out}
    assert not set(keys) & forbidden_keys(statements)
    counts = plan.report["in_plan"]
    assert counts["scene:scenes"] > 900
    kinds = {kind for kind in counts if kind.endswith(":fortunes")}
    assert {"edited:fortunes", "spliced:fortunes", "headline:fortunes"} <= kinds
    assert set(SENTENCES) <= {source.name for source in SOURCES}
    save(plan, wide)
    report = json.loads((wide / "report.json").read_text())
    assert report["total"] == len(plan.texts) and report["after"] == "older"
    (older / "held_out.npz").write_bytes(b"vectors")
    (older / "chunk_0000.npz").write_bytes(b"a part")
    assert take_over(older, wide) == 0, "the last chunk is not full: it is encoded anew"
    assert (wide / "held_out.npz").read_bytes() == b"vectors"
    assert not (wide / "chunk_0000.npz").exists()


def test_the_documented_extension(cache: Path, data: Path) -> None:
    """The README's command, on the sample: made sentences join the plan under another name."""
    (command,) = [c for c in commands("distill/README.md", "A wider plan") if "main" in c]
    arguments = [str(data) if part == "DIR" else part for part in command]
    printed = run_module(cache, *arguments, "--scale", "0.01")
    assert '"scene:scenes"' in printed and "chunks taken over" in printed
    assert (cache / "corpus" / "wide" / "plan.txt.gz").exists()
