"""tern_tools.similarity and classify: the same results as the JavaScript ones."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tern_engine.errors import DimensionError, InvalidInputError
from tern_tools import Classifier, classify, similarity

ROOT = Path(__file__).parents[2]

# tests/js/golden-similarity.test.mjs reads the same file.
GOLDEN = json.loads((ROOT / "tests" / "golden" / "similarity.json").read_text("utf-8"))


class TableEngine:
    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors
        self.embedded: list[str] = []

    def embed_batch(self, texts: Any) -> np.ndarray:
        self.embedded += texts
        return np.array([self.vectors[text] for text in texts], np.float32)


def test_bits_are_those_of_javascript() -> None:
    assert len(GOLDEN["pairs"]) > 8
    for pair in GOLDEN["pairs"]:
        assert similarity(pair["a"], pair["b"]) == pair["cosine"]
    engine = TableEngine(GOLDEN["vectors"])
    assert len(GOLDEN["classes"]) > 3
    for case in GOLDEN["classes"]:
        threshold = case.get("threshold", -math.inf)
        found = classify(engine, "text", case["labels"], threshold=threshold)
        assert [list(hit) for hit in found] == case["ranking"]


def test_a_classifier_embeds_its_labels_once() -> None:
    """And gives the scores of classify(), to the last bit."""
    names = [name for name in GOLDEN["vectors"] if name != "text"]
    for labels in ({"x": names[:2], "y": names[2:], "z": names}, names, []):
        engine = TableEngine(GOLDEN["vectors"])
        classifier = Classifier(engine, labels)
        engine.embedded.clear()
        found = classifier.classify_batch(["text", *names])
        assert [classifier.classify("text")] == found[:1]
        assert engine.embedded == ["text", *names, "text"]
        assert found == [classify(engine, text, labels) for text in ("text", *names)]
    assert len(found) > 3
    assert classifier.classify_batch([]) == []


def test_similarity_refuses() -> None:
    with pytest.raises(DimensionError):
        similarity([1.0], [1.0, 2.0])
    for bad in ("ab", 1.0, [["a"]], ["a", "b"], [math.nan, 1], [math.inf, 1], None, [[1.0, 2.0]]):
        with pytest.raises(InvalidInputError):
            similarity(bad, [1.0, 2.0])


def test_classify_threshold_and_refusals() -> None:
    engine = TableEngine({"t": [1.0, 0.0], "a": [1.0, 0.1], "b": [0.0, 1.0]})
    assert [hit.label for hit in classify(engine, "t", ["b", "a"])] == ["a", "b"]
    assert [hit.label for hit in classify(engine, "t", ["b", "a"], threshold=0.5)] == ["a"]
    bad: list[tuple[Any, Any, Any]] = [
        (1, ["a"], 0),
        ("t", "a", 0),
        ("t", [1], 0),
        ("t", {"a": []}, 0),
        ("t", {"a": "b"}, 0),
        ("t", {"a": [1]}, 0),
        ("t", ["a"], math.nan),
        ("t", ["a"], "0"),
    ]
    for text, labels, threshold in bad:
        with pytest.raises(InvalidInputError):
            classify(engine, text, labels, threshold=threshold)
    with pytest.raises(InvalidInputError):
        Classifier(engine, ["a"]).classify_batch(["t"], threshold=math.nan)
    with pytest.raises(InvalidInputError, match="engine must be an Engine"):
        classify(None, "t", ["a"])  # type: ignore[arg-type]
