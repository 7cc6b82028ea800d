"""tern_tools.SearchIndex: the golden files and scores, and the oracle's on other inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tern_tools import SearchIndex, split_sentences
from tern_tools.canonical_json import canonical_json, parse_json
from tern_tools.passages import cut_passages
from tern_tools.sentences import sentence_ranges
from tern_tools.vectors import Float32Table, Int8Table, quantize

from tests.support import index_format as oracle
from tests.support.fake_index import GOLDEN, FakeEngine, cases, count_words, floats


def golden_engine(case: dict[str, Any]) -> FakeEngine:
    engine = FakeEngine(case["dim"], case["passageTokens"])
    for entry in case["documents"]:
        text = oracle.whole_text(entry["document"]["text"])
        for passage in entry["passages"]:
            slice = text[passage["start"] : passage["end"]]
            engine.known[slice] = floats(passage["vector"])
    return engine


def test_sentences() -> None:
    for case in cases("sentences.json"):
        assert split_sentences(oracle.whole_text(case["text"])) == case["sentences"]


def test_canonical_json() -> None:
    for case in cases("json.json"):
        assert canonical_json(parse_json(case["input"]), depth=0) == case["canonical"]


def test_passages() -> None:
    for case in cases("passages.json"):
        found = cut_passages(case["text"], case["limit"], count_words)
        assert [list(part) for part in found] == case["passages"]


def test_int8() -> None:
    for case in cases("int8.json"):
        codes, scales = quantize(floats(case["vector"])[None])
        assert scales.tobytes().hex() == case["scale"]
        assert codes[0].tolist() == case["codes"]


@pytest.mark.parametrize("case", cases("index.json"), ids=lambda case: case["file"])
def test_files_and_rankings(case: dict[str, Any]) -> None:
    engine = golden_engine(case)
    file = (GOLDEN / case["file"]).read_bytes()
    index = SearchIndex(engine, vectors=case["vectors"])
    index.add(entry["document"] for entry in case["documents"])
    assert index.save() == file

    loaded = SearchIndex.load(engine, file)
    assert loaded.save() == file
    assert loaded.vectors == case["vectors"]
    assert loaded.passage_tokens == case["passageTokens"]
    assert list(loaded.documents()) == list(index.documents())
    for number, query in enumerate(case["queries"]):
        # As an engine's embedding, the vector is taken as it is: scores agree to the last bit.
        engine.known[f"query {number}"] = floats(query["vector"])
        expected = [(hit["id"], hit["passage"], hit["score"]) for hit in query["results"]]
        for each in (index, loaded):
            found = each.query(f"query {number}", 5)
            assert [(hit.id, hit.passage.index, hit.score) for hit in found] == expected
        # Given as a vector it is scaled to length 1 once more: not the last bit.
        by_vector = loaded.query(floats(query["vector"]) * np.float32(3), 5)
        assert [hit.id for hit in by_vector] == [id for id, _, _ in expected]
        for hit, (_, _, score) in zip(by_vector, expected, strict=True):
            assert hit.score == pytest.approx(score, abs=1e-6)


TEXTS = st.text(
    st.sampled_from("ab IA.!?\n\r \u2029\u3002)\"'\x85🙂\ud800é") | st.characters(), max_size=60
) | st.lists(
    st.sampled_from(["Mr.", "e.g.", "X.", "end.", "Two", "words", "!", "\n\n", "。", "why?)", "I."])
).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(3, 9))
def test_sentences_and_passages_agree(text: str, limit: int) -> None:
    text = oracle.whole_text(text)
    assert list(sentence_ranges(text)) == oracle.sentences(text)
    expected = oracle.passages(text, limit, lambda part: count_words(part)[0])
    assert cut_passages(text, limit, count_words) == expected


class LookedAt(str):
    """A text that counts how often a character or slice of it is taken."""

    times = 0

    def __getitem__(self, key: Any) -> str:
        self.times += 1
        return super().__getitem__(key)


@pytest.mark.parametrize("text", ["x" * 40_000, "x" * 20_000 + " " + "x" * 20_000])
def test_cutting_does_not_look_at_every_character(text: str) -> None:
    counted: list[str] = []

    def count(part: str) -> tuple[int, bool]:
        counted.append(part)
        return count_words(part)

    looked_at = LookedAt(text)
    found = cut_passages(looked_at, 12, count)
    assert found == oracle.passages(text, 12, lambda part: count_words(part)[0])
    assert len(found) > 500 and looked_at.times < 6 * len(counted) < len(text)


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.integers(-(2**53), 2**53)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(JSON_VALUES)
def test_canonical_json_agrees(value: Any) -> None:
    text = canonical_json(value)
    assert text == oracle.canonical(value)
    assert canonical_json(parse_json(text)) == text


@pytest.mark.parametrize("dim", [1, 2, 7, 384])
@pytest.mark.parametrize("count", [1, 2, 700])
def test_scores_agree_to_the_last_bit(dim: int, count: int) -> None:
    random = np.random.default_rng(dim * count)
    vectors = random.standard_normal((count, dim)).astype(np.float32)
    query = random.standard_normal(dim).astype(np.float32)
    some = range(0, count, 97)
    floats_found = Float32Table(vectors).scores(query)
    int8_found = Int8Table(*quantize(vectors)).scores(query)
    for i in some:
        row, wanted = vectors[i].tolist(), query.tolist()
        assert floats_found[i] == oracle.score_float32(row, wanted)
        assert int8_found[i] == oracle.score_int8(row, wanted)
