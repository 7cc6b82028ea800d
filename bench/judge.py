"""Is every contender what it claims to be? A straw man's figures would mean nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import bert

# 10^9 multiply-adds a second in its products: less, and the obvious SIMD build is a straw man.
LEAST_GMACS = 10.0


class BenchError(Exception):
    """A contender is not what it claims to be: its figures would mean nothing."""


@dataclass(frozen=True)
class Standard:
    """What an engine's vectors are held against.

    original          token count → the right vector of that size's first text
    least_cosine      to it
    most_difference   of a component; None where only the direction counts
    what              the original, in words
    """

    original: Callable[[int], bert.Array]
    least_cosine: float
    most_difference: float | None
    what: str


def judge(
    proofs: Sequence[Mapping[str, Any]], standards: Mapping[tuple[str, int], Standard], output: int
) -> list[str]:
    """Check every vector; a sentence for the report for each engine and width.

    proofs      {"engine", "dim", "tokens", "vector"}
    standards   (engine, width of its model) → what it must agree with; all must have been proved
    output      length of every vector
    Raises BenchError for a vector that is not a unit vector of `output` floats, or strays from its
    original.
    """
    worst: dict[tuple[str, int], list[tuple[float, float]]] = {key: [] for key in standards}
    for proof in proofs:
        vector = np.array(proof["vector"], np.float32)
        key = (proof["engine"], proof["dim"])
        where = f"{proof['engine']}, d {proof['dim']}, at {proof['tokens']} tokens"
        if vector.shape != (output,) or not np.isfinite(vector).all():
            raise BenchError(f"{where} returned no {output} finite floats")
        if abs(float(np.linalg.norm(vector)) - 1) > 1e-3:
            raise BenchError(f"{where} returned a vector of length {np.linalg.norm(vector)}")
        if key not in standards:
            raise BenchError(f"{where} has nothing to be held against")
        standard = standards[key]
        right = standard.original(proof["tokens"])
        cosine, difference = float(vector @ right), float(np.abs(vector - right).max())
        if cosine < standard.least_cosine:
            raise BenchError(f"{where} has cosine {cosine:.4f} to {standard.what}")
        if standard.most_difference is not None and difference > standard.most_difference:
            raise BenchError(f"{where} differs by {difference:.4f} from {standard.what}")
        worst[key].append((cosine, difference))
    for (engine, dim), found in worst.items():
        if not found:
            raise BenchError(f"no vector of {engine}, d {dim}, was judged")
    return [
        f"{engine}, d {dim}, against {standards[engine, dim].what}: least cosine "
        f"{min(c for c, _ in found):.6f}, largest difference of a component "
        f"{max(d for _, d in found):.1e}, {len(found)} texts."
        for (engine, dim), found in worst.items()
    ]


def judge_speed(gmacs: Mapping[str, float], *, quick: bool = False) -> str:
    """`gmacs`: width → 10^9 multiply-adds a second of the obvious SIMD build's products.

    Raises BenchError under LEAST_GMACS; not of a quick run, whose times mean nothing: a busy
    machine would fail the tests.
    """
    for dim, value in gmacs.items():
        if value < LEAST_GMACS and not quick:
            raise BenchError(
                f"obvious-simd, d {dim}, reaches {value:.1f} GMAC/s in its products, a fair one "
                f"at least {LEAST_GMACS:.0f}"
            )
    asked = f"{LEAST_GMACS:.0f} is asked for" + (", but not of a quick run" if quick else "")
    reached = ", ".join(f"{value:.1f} GMAC/s at d {dim}" for dim, value in gmacs.items())
    return f"obvious-simd reaches {reached} in its products ({asked})."
