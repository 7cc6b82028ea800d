"""The texts that are timed."""

from __future__ import annotations

import pytest
from tern_engine.tokenizer import Tokenizer

from bench import details, run, texts
from tests.bench.shared import ROOT, SIZES


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(ROOT / "assets" / "tokenizer.json")


def test_the_full_run_has_enough_texts_of_the_right_lengths(tokenizer: Tokenizer) -> None:
    effort = run.FULL
    assert tuple(effort.per_round) == SIZES
    rounds = max(effort.rounds.values())
    plan = texts.make_plan(
        texts.sentences(),
        tokenizer.tokenize,
        per_round=effort.per_round,
        rounds=rounds,
        warmup=1000,
    )
    assert len(plan.warmup) == 1000
    assert len(plan.rounds) == rounds
    for sizes in plan.rounds:
        for tokens, items in sizes.items():
            assert len(items) == effort.per_round[tokens]
            for item in items:
                assert list(item.ids) == tokenizer.tokenize(item.text)
                assert len(item.ids) == tokens
    every = [item.text for item in plan.items()]
    assert len(set(every)) == len(every)


def test_timed_texts_bring_new_words_as_real_ones_do(tokenizer: Tokenizer) -> None:
    plan = texts.make_plan(
        texts.sentences(), tokenizer.tokenize, per_round={12: 400}, rounds=1, warmup=1000
    )
    seen = {chunk for item in plan.warmup for chunk in item.text.split()}
    new = total = 0
    for item in plan.rounds[0][12]:
        chunks = item.text.split()
        new += sum(chunk not in seen for chunk in chunks)
        total += len(chunks)
        seen.update(chunks)
    assert 0.1 < new / total < 0.3


def words(text: str) -> list[int]:
    """A tokenizer for the tests: one id a word, within a frame."""
    return [0, *range(1, len(text.split()) + 1), 0]


def test_running_out_of_sentences_is_an_error() -> None:
    with pytest.raises(ValueError, match="no unused sentence of 4 tokens"):
        texts.make_plan(["a b", "c d e"], words, per_round={4: 2}, rounds=1, warmup=0)


def test_long_texts_are_joined_from_sentences_that_fit() -> None:
    pool = [" ".join(f"w{i}" for i in range(size)) for size in (30, 14, 40, 18, 5)]
    plan = texts.make_plan(pool, words, per_round={64: 1}, rounds=1, warmup=1)
    [item] = plan.rounds[0][64]
    assert len(item.ids) == 64
    assert item.text == " ".join([pool[0], pool[1], pool[3]])
    assert plan.warmup[0].text == pool[2]


def test_mixed_texts_are_distinct_and_short() -> None:
    found = details.mixed(texts.sentences(), 10_000)
    assert len(set(found)) == 10_000
    with pytest.raises(ValueError, match="3 mixed texts, 4 are asked for"):
        details.mixed(["one two three"], 4)
