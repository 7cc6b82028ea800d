"""Which vectors and speeds end a run."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bench import bert, judge


def proof(engine: str, *vector: float, dim: int = 2) -> dict[str, object]:
    return {"engine": engine, "dim": dim, "tokens": 8, "vector": list(vector)}


def right(tokens: int) -> bert.Array:
    return np.array([1, 0], np.float32)


EXACT = judge.Standard(right, 0.9999, 2e-3, "the reference")
NEAR = judge.Standard(right, 0.98, None, "its original")
STANDARDS = {("tern", 2): EXACT, ("minilm-q8-wasm", 2): NEAR}
TERN, PEER = proof("tern", 1, 0), proof("minilm-q8-wasm", 0.99, 0.141)


def test_sound_contenders_pass() -> None:
    ours, theirs = judge.judge([TERN, PEER], STANDARDS, 2)
    assert ours.startswith("tern, d 2, against the reference: least cosine 1.000000")
    assert "least cosine 0.99" in theirs


@pytest.mark.parametrize(
    ("proofs", "message"),
    [
        ([TERN, proof("minilm-q8-wasm", 0.6, 0.8)], "has cosine 0.6000 to its original"),
        ([proof("tern", 0.99995, 0.01), PEER], "differs by 0.0100 from the reference"),
        ([proof("tern", 1, 1)], "returned a vector of length 1.41"),
        ([proof("tern", math.nan, 1)], "returned no 2 finite floats"),
        ([proof("tern", 1, 0, 0)], "returned no 2 finite floats"),
        ([proof("tern", 1, 0, dim=3)], "has nothing to be held against"),
        ([TERN], "no vector of minilm-q8-wasm, d 2, was judged"),
    ],
)
def test_broken_contenders_fail(proofs: list[dict[str, object]], message: str) -> None:
    with pytest.raises(judge.BenchError, match=message):
        judge.judge(proofs, STANDARDS, 2)


def test_a_slow_obvious_build_is_a_straw_man() -> None:
    assert "13.0 GMAC/s at d 256" in judge.judge_speed({"256": 13.0, "384": 12.0})
    with pytest.raises(judge.BenchError, match=r"d 384, reaches 9\.9 GMAC/s .* at least 10"):
        judge.judge_speed({"256": 13.0, "384": 9.9})
    assert "9.9 GMAC/s at d 384" in judge.judge_speed({"384": 9.9}, quick=True)
