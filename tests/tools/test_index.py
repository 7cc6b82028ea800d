"""tern_tools.SearchIndex: the golden files and scores, and all that can be wrong with a file."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tern_engine.errors import (
    DimensionError,
    IndexFormatError,
    IndexStaleError,
    InvalidInputError,
)
from tern_tools import Document, SearchIndex, split_sentences
from tern_tools.canonical_json import canonical_json, parse_json
from tern_tools.passages import cut_passages
from tern_tools.sentences import sentence_ranges
from tern_tools.vectors import Float32Table, Int8Table, quantize

from tests.support import index_format as oracle

GOLDEN = Path(__file__).parents[1] / "golden" / "index"


def cases(name: str) -> list[Any]:
    loaded: list[Any] = json.loads((GOLDEN / name).read_text("utf-8"))
    assert loaded
    return loaded


def floats(digits: str) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(digits), "<f4")


def count_words(text: str) -> tuple[int, bool]:
    """The tokens of passages.json and of the golden files."""
    return 2 + sum(math.ceil(len(word) / 8) for word in text.split()), False


class FakeEngine:
    """Vectors by text, from a table, else by chance with the text as the seed."""

    def __init__(self, dim: int = 7, max_seq_len: int = 12) -> None:
        self.dim = dim
        self.max_seq_len = max_seq_len
        self.fingerprint = "00112233445566778899aabbccddeeff" * 2
        self.known: dict[str, np.ndarray] = {}
        self.embedded: list[str] = []

    def embed(self, text: str) -> np.ndarray:
        if text in self.known:
            return self.known[text]
        seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        vector = np.random.default_rng(list(seed)).standard_normal(self.dim)
        return (vector / np.linalg.norm(vector)).astype(np.float32)

    def embed_batch(self, texts: Any) -> np.ndarray:
        self.embedded += texts
        return np.stack([self.embed(text) for text in texts])

    token_count = staticmethod(count_words)


def golden_engine(case: dict[str, Any]) -> FakeEngine:
    engine = FakeEngine(case["dim"], case["passageTokens"])
    for entry in case["documents"]:
        text = oracle.whole_text(entry["document"]["text"])
        for passage in entry["passages"]:
            slice = text[passage["start"] : passage["end"]]
            engine.known[slice] = floats(passage["vector"])
    return engine


# --- golden cases


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


# --- against the oracle

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


# --- changes


def document(id: str, text: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "text": text, **more}


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
    with pytest.raises(InvalidInputError):
        SearchIndex(FakeEngine(), vectors="int4")
    with pytest.raises(InvalidInputError):
        SearchIndex(FakeEngine(), passage_tokens=2)


# --- damaged files


def sealed(file: bytes, change: Callable[[bytearray], None]) -> bytes:
    """The file after a change, with a checksum that fits it."""
    body = bytearray(file[:-32])
    change(body)
    blocks = [body[at : at + 2**20] for at in range(0, len(body), 2**20)]
    digests = b"".join(hashlib.sha256(block).digest() for block in blocks)
    return bytes(body) + hashlib.sha256(digests).digest()


@pytest.mark.parametrize("case", cases("index.json"), ids=lambda case: case["file"])
def test_any_byte_changed_any_length_cut(case: dict[str, Any]) -> None:
    engine = FakeEngine(case["dim"])
    file = (GOLDEN / case["file"]).read_bytes()
    for i in range(len(file)):
        changed = bytearray(file)
        changed[i] ^= 1 << i % 8
        with pytest.raises(IndexFormatError):
            SearchIndex.load(engine, changed)
    for length in [*range(200), *range(200, len(file), 37)]:
        with pytest.raises(IndexFormatError):
            SearchIndex.load(engine, file[: min(length, len(file) - 1)])
    with pytest.raises(IndexFormatError):
        SearchIndex.load(engine, file + b"\0")


def saved(kind: str = "float32") -> bytes:
    index = SearchIndex(FakeEngine(2), vectors=kind)
    index.add([document("a", "text one", title="T"), document("b", "text two")])
    return index.save()


def put(at: int, form: str, *values: Any) -> Callable[[bytearray], None]:
    return lambda body: struct.pack_into(form, body, at, *values)


def swap(old: bytes, new: bytes) -> Callable[[bytearray], None]:
    def change(body: bytearray) -> None:
        assert len(old) == len(new) and body.count(old) == 1
        body[:] = body.replace(old, new)

    return change


# Header 64, lengths 64–72, counts 72–80, ranges 80–96, then scales or vectors.
@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("float32", put(48, "<I", 0), "0 dimensions"),
        ("float32", put(52, "<I", 2), "passage tokens"),
        ("float32", put(72, "<II", 2, 1), "passages"),
        ("float32", put(80, "<I", 8), "reaches from"),
        ("float32", put(84, "<I", 9), "reaches from"),
        ("float32", put(96, "<f", math.inf), "not finite"),
        ("float32", put(100, "<f", math.nan), "not finite"),
        ("int8", put(96, "<f", -1.0), "scale"),
        ("int8", put(100, "<f", math.nan), "scale"),
        ("int8", put(104, "<b", -128), "-128"),
        ("float32", swap(b'"id":"b"', b'"id":"a"'), "two documents"),
        ("float32", swap(b'"id":"a"', b'"id": 12'), "canonical"),
        ("float32", swap(b'"title":"T"', b'"title":NaN'), "canonical"),
        ("float32", swap(b"text two", b"text\xfftwo"), "UTF-8"),
    ],
)
def test_sealed_damage(kind: str, change: Callable[[bytearray], None], message: str) -> None:
    with pytest.raises(IndexFormatError, match=message):
        SearchIndex.load(FakeEngine(2), sealed(saved(kind), change))


def test_an_index_of_another_model_is_stale() -> None:
    engine = FakeEngine(2)
    engine.fingerprint = "f" * 64
    with pytest.raises(IndexStaleError) as raised:
        SearchIndex.load(engine, saved())
    assert raised.value.code == "INDEX_STALE"
    with pytest.raises(IndexStaleError, match="dimensions"):
        SearchIndex.load(FakeEngine(3), saved())
