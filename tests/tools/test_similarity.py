"""tern_tools.similarity and classify: the same results as the JavaScript ones."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tern_engine.errors import DimensionError, InvalidInputError
from tern_tools import classify, similarity

ROOT = Path(__file__).parents[2]

COMPARE = """
import { readFileSync } from "node:fs";
import { similarity } from "./web/similarity.js";
import { classify } from "./web/classify.js";
const { pairs, vectors, labels } = JSON.parse(readFileSync(0, "utf8"));
const engine = { embedBatch: (texts) => texts.map((text) => Float32Array.from(vectors[text])) };
console.log(JSON.stringify({
  pairs: pairs.map(([a, b]) => similarity(a, b)),
  classes: labels.map((each) =>
    classify(engine, "text", each).map(({ label, score }) => [label, score])),
}));
"""


class TableEngine:
    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    def embed_batch(self, texts: Any) -> np.ndarray:
        return np.array([self.vectors[text] for text in texts], np.float32)


def test_bits_are_those_of_javascript() -> None:
    random = np.random.default_rng(7)
    pairs = [random.standard_normal((2, n)).tolist() for n in (1, 2, 3, 384, 1000)]
    pairs += [[[1e300, 2e300], [3e-320, 1e-300]], [[0, 0], [1, 2]], [[1, 2], [-2, -4]], [[], []]]
    names = ["text", "one", "two", "three", "four"]
    vectors = {name: random.standard_normal(384).astype(np.float32).tolist() for name in names}
    vectors["four"] = vectors["one"]
    labels: list[Any] = [names[1:], [], {"x": ["one", "two"], "y": ["three"], "z": ["one", "two"]}]
    node = shutil.which("node")
    assert node
    done = subprocess.run(
        [node, "--input-type=module", "-e", COMPARE],
        cwd=ROOT,
        input=json.dumps({"pairs": pairs, "vectors": vectors, "labels": labels}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    assert [similarity(a, b) for a, b in pairs] == expected["pairs"]
    engine = TableEngine(vectors)
    found = [[list(hit) for hit in classify(engine, "text", each)] for each in labels]
    assert found == expected["classes"]


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
