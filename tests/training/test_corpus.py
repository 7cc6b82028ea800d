"""What may be learned from, and what never is."""

from __future__ import annotations

import random
from pathlib import Path

from training.distill.corpus import build, read_plan, save
from training.distill.queries import passages, span, webbed
from training.distill.sources import SOURCES
from training.distill.textkeys import forbidden_keys, held_out_queries, is_forbidden, key, rank


def test_keys_ignore_case_and_punctuation() -> None:
    assert key("What's  the Time?") == key("what s the time") == "what s the time"


def test_no_evaluation_text_is_in_the_plan(data: Path, sample_lines: list[str]) -> None:
    plan = build(data)
    keys = {key(text) for text, _ in plan.texts + plan.held_out}
    assert len(keys) == len(plan.texts) + len(plan.held_out)
    assert not keys & {key(text) for text in sample_lines[:10]}
    assert not keys & {key(text) for text in held_out_queries(data / "corpus")}
    assert key(sample_lines[50]) in keys
    assert plan.report["wordnet"]["dropped_evaluation"] == 10
    assert plan.report["wordnet"]["lines"] == len(sample_lines) + 5
    assert plan.report["wordnet"]["dropped_duplicate"] == 5
    assert plan.report["wordnet"]["licence"] == "WordNet 3.0 licence"
    assert plan.report["medquad"] == {"missing": True}


def test_a_sentence_of_an_evaluation_taints_the_whole_text(data: Path) -> None:
    forbidden = forbidden_keys(data)
    assert is_forbidden("Something else. The rest of the abstract.", forbidden)
    assert not is_forbidden("Something else. The rest of the story is fine.", forbidden)


def test_only_listed_sources_are_read(data: Path) -> None:
    texts = {text for text, _ in build(data).texts}
    assert "this file must never be read" not in texts
    assert "nltk" not in {source.name for source in SOURCES}
    assert all(source.licence for source in SOURCES)


def test_held_out_queries_have_the_smallest_hashes(data: Path) -> None:
    queries = held_out_queries(data / "corpus")
    assert len(queries) == 1000
    assert max(rank(query) for query in queries) < min(
        rank(f"query {i} of many") for i in range(1200) if f"query {i} of many" not in set(queries)
    )


def test_a_plan_survives_its_file(data: Path, tmp_path: Path) -> None:
    plan = build(data, 0.01)
    save(plan, tmp_path)
    assert read_plan(tmp_path / "plan.txt.gz") == plan.texts
    assert build(data, 0.01).texts == plan.texts


def test_questions_are_typed_as_on_the_web() -> None:
    rng = random.Random(1)
    made = {webbed("Who built the old Bridge?", rng) for _ in range(50)}
    assert made == {"Who built the old Bridge?", "who built the old bridge"} | (
        made & {"who built the old bridge"}
    )


def test_spans_are_runs_of_content_words() -> None:
    rng = random.Random(2)
    text = "The cost of the new bridge over the river was never made public"
    words = text.lower().split()
    made = [cut for _ in range(300) if (cut := span(text, rng)) is not None]
    assert len(set(made)) > 30
    in_order = 0
    for cut in made:
        parts = cut.split()
        assert parts[-1] in words and parts[-1] not in {"the", "of", "was"}
        in_order += cut in text.lower()
    assert in_order > len(made) / 2
    assert span("too short", rng) is None


def test_passages_are_consecutive_lines() -> None:
    lines = [f"line {i} has six words here" for i in range(100)]
    for text in passages(lines[:60], 20, random.Random(3)):
        assert text in " ".join(lines)
        assert len(text.split()) <= 110
