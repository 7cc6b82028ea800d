"""tern_tools.SearchIndex: what changes it, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tern_engine.errors import DimensionError, InvalidInputError
from tern_tools import Document, SearchIndex

from tests.support.fake_index import FakeEngine, document


def test_replaced_documents_keep_their_place() -> None:
    engine = FakeEngine()
    index = SearchIndex(engine)
    index.add([document("a", "one"), document("b", "two"), document("c", "")])
    index.replace(document("a", "three", title="T", meta={"n": 1}))
    assert [each.id for each in index.documents()] == ["a", "b", "c"]
    assert index.get("a") == Document("a", "three", "T", None, {"n": 1})
    assert index.remove(["b", "none"]) == 1 and "b" not in index and len(index) == 2
    other = SearchIndex(engine)
    other.add([document("a", "three", title="T", meta={"n": 1}), document("c", "")])
    assert index.save() == other.save()
    index.clear()
    assert index.query("three") == [] and index.save() == SearchIndex(engine).save()


def test_sync_embeds_only_what_changed() -> None:
    engine = FakeEngine()
    index = SearchIndex(engine, vectors="int8")
    index.add([document("a", "one"), document("b", "two"), document("d", "four")])
    engine.embedded.clear()
    wanted = [document("0", "zero"), document("a", "one", title="new"), document("b", "too")]
    changes = index.sync(wanted)
    assert (changes.added, changes.changed, changes.removed) == (1, 1, 1)
    assert engine.embedded == ["zero", "too"]
    afresh = SearchIndex(engine, vectors="int8")
    afresh.add(wanted)
    assert index.save() == afresh.save()


def test_equal_scores_filter_and_k() -> None:
    index = SearchIndex(FakeEngine())
    index.add([document(str(i), "same text") for i in range(20)])
    assert [hit.id for hit in index.query("x", 3)] == ["0", "1", "2"]
    odd = index.query("x", 50, filter=lambda found: int(found.id) % 2 == 1)
    assert [hit.id for hit in odd] == [str(i) for i in range(1, 20, 2)]


def test_a_failing_engine_leaves_what_was_complete() -> None:
    engine = FakeEngine()
    index = SearchIndex(engine)
    engine.known["bad"] = np.full(7, 2, np.float32)
    with pytest.raises(InvalidInputError, match="of length"):
        index.add([document("a", "good"), document("b", "bad")], batch_size=1)
    assert [each.id for each in index.documents()] == ["a"]
    assert index.query("good")[0].id == "a"


def test_progress_and_batches_do_not_show_in_the_file() -> None:
    documents = [document(str(i), f"text {i}. And a second sentence, long.") for i in range(9)]
    files = set()
    for size in (1, 4, 100):
        seen: list[tuple[int, int]] = []
        index = SearchIndex(FakeEngine(max_seq_len=5))
        index.add(documents, batch_size=size, on_progress=lambda *at, seen=seen: seen.append(at))
        files.add(index.save())
        assert seen[-1] == (9, 9) and seen == sorted(seen)
    assert len(files) == 1


@pytest.mark.parametrize(
    "bad",
    [
        5,
        "text",
        [5],
        {"id": "a"},
        {"text": "a"},
        {"id": "", "text": "a"},
        {"id": "a", "text": None},
        {"id": "a", "text": "t", "title": 1},
        {"id": "a", "text": "t", "other": 1},
        {"id": "a", "text": "t", "meta": []},
        {"id": "a", "text": "t", "meta": {"x": float("nan")}},
        {"id": "a", "text": "t", "meta": {"x": 2**53 + 1}},
        {"id": "a", "text": "t", "meta": {"x": 10**400}},
        {"id": "a", "text": "t", "meta": {1: 2}},
        {"id": "a", "text": "t", "meta": {"x": object()}},
        [{"id": "a", "text": "t"}, {"id": "a", "text": "u"}],
        {"id": "held", "text": "t"},
    ],
    ids=repr,
)
def test_bad_documents_are_refused_before_anything_is_added(bad: Any) -> None:
    index = SearchIndex(FakeEngine())
    index.add(document("held", "text"))
    with pytest.raises(InvalidInputError):
        index.add([document("first", "good"), bad] if isinstance(bad, dict) else bad)
    assert len(index) == 1


def test_meta_nests_64_deep_and_no_deeper() -> None:
    def nested(depth: int) -> dict[str, Any]:
        return {} if depth == 1 else {"x": nested(depth - 1)}

    index = SearchIndex(FakeEngine())
    index.add(document("a", "t", meta=nested(64)))
    assert len(SearchIndex.load(FakeEngine(), index.save())) == 1
    with pytest.raises(InvalidInputError, match="deeper"):
        index.add(document("b", "t", meta=nested(65)))


def test_bad_queries_and_options() -> None:
    index = SearchIndex(FakeEngine())
    index.add(document("a", "t"))
    for query, k in ((None, 1), ([[1.0] * 7], 1), ([math.nan] * 7, 1), ([0.0] * 7, 1), ("x", 0)):
        with pytest.raises(InvalidInputError):
            index.query(query, k)
    with pytest.raises(InvalidInputError):
        index.query([1e200] * 7)
    with pytest.raises(DimensionError):
        index.query([1.0] * 8)
    assert index.query("x", mode="meaning") == index.query("x")
    for mode in ("keyword", "hybrid"):
        with pytest.raises(InvalidInputError, match=rf'"{mode}".*no Python library ranks as'):
            index.query("x", mode=mode)
    with pytest.raises(InvalidInputError, match='must be "meaning"'):
        index.query("x", mode="semantic")
    with pytest.raises(InvalidInputError, match="filter must be a function"):
        index.query("x", filter="no")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="on_progress must be a function"):
        index.add(document("b", "u"), on_progress=[])  # type: ignore[arg-type]
    for ids in (5, None):
        with pytest.raises(InvalidInputError, match="ids is"):
            index.remove(ids)  # type: ignore[arg-type]
    assert index.remove([5, ["a"]]) == 0 and [] not in index and index.get([]) is None  # type: ignore[arg-type,list-item]
    assert len(index) == 1
    with pytest.raises(InvalidInputError, match="file is str, expected the bytes of an index"):
        SearchIndex.load(FakeEngine(), "site.index")
    for engine in (None, "engine", FakeEngine):
        with pytest.raises(InvalidInputError, match="engine must be an Engine"):
            SearchIndex(engine)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="engine must be an Engine"):
            SearchIndex.load(engine, index.save())  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        SearchIndex(FakeEngine(), vectors="int4")
    with pytest.raises(InvalidInputError):
        SearchIndex(FakeEngine(), passage_tokens=2)
