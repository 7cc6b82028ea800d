"""docs/index-format.md is complete: what is written from it alone gives the golden cases."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.support import index_format as oracle

GOLDEN = Path(__file__).parent / "golden" / "index"


def cases(name: str) -> list[Any]:
    loaded: list[Any] = json.loads((GOLDEN / name).read_text("utf-8"))
    assert loaded
    return loaded


def floats(digits: str) -> tuple[float, ...]:
    return tuple(x for (x,) in struct.iter_unpack("<f", bytes.fromhex(digits)))


def test_sentences() -> None:
    for case in cases("sentences.json"):
        text = case["text"]
        assert [text[start:end] for start, end in oracle.sentences(text)] == case["sentences"]


def test_canonical_json() -> None:
    for case in cases("json.json"):
        assert oracle.canonical(json.loads(case["input"])) == case["canonical"]


def test_passages() -> None:
    def tokens(text: str) -> int:
        return 2 + sum(math.ceil(len(word) / 8) for word in text.split())

    for case in cases("passages.json"):
        found = oracle.passages(case["text"], case["limit"], tokens)
        assert [list(part) for part in found] == case["passages"]


def test_int8() -> None:
    for case in cases("int8.json"):
        scale, codes = oracle.quantize(floats(case["vector"]))
        assert struct.pack("<f", scale).hex() == case["scale"]
        assert codes == case["codes"]


@pytest.mark.parametrize("case", cases("index.json"), ids=lambda case: case["file"])
def test_file_and_ranking(case: dict[str, Any]) -> None:
    documents = [
        (entry["document"], [(p["start"], p["end"], bytes.fromhex(p["vector"])) for p in found])
        for entry in case["documents"]
        for found in [entry["passages"]]
    ]
    header = case["vectors"], case["fingerprint"], case["dim"], case["passageTokens"]
    assert oracle.write(*header, documents) == (GOLDEN / case["file"]).read_bytes()

    score = oracle.score_int8 if case["vectors"] == "int8" else oracle.score_float32
    for query in case["queries"]:
        best = []
        for entry in case["documents"]:
            scores = [
                score(floats(p["vector"]), floats(query["vector"])) for p in entry["passages"]
            ]
            if scores:
                passage = scores.index(max(scores))
                best.append((entry["document"]["id"], passage, scores[passage]))
        best.sort(key=lambda hit: -hit[2])
        found = [(hit["id"], hit["passage"], hit["score"]) for hit in query["results"]]
        assert found == best[:5]


def test_pairs_of_surrogates_are_one_character() -> None:
    assert oracle.whole_text("\ud83d\ude00 \ud800") == "\U0001f600 \ud800"
