"""Cosine similarity of two vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import DimensionError, InvalidInputError

from ._check import check


def similarity(a: Any, b: Any) -> float:
    """The cosine of the angle between two vectors, in -1…1; 0 where either of them is zero.

    `a` and `b` are array-likes of numbers, of one dimension and one length. The same bits as
    web/similarity.js. Raises InvalidInputError for anything but vectors of finite numbers,
    DimensionError when the lengths differ.
    """
    x, y = as_vector(a, "the first argument"), as_vector(b, "the second argument")
    if len(x) != len(y):
        raise DimensionError(
            f"the first vector has {len(x)} elements, the second {len(y)}; they must be equal"
        )
    return float(cosines(x, y[None])[0])


def cosines(x: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """similarity() of float64 [d] and each row of float64 [n, d], with the same bits: float64 [n].

    Raises InvalidInputError for an element that is not finite.
    """
    check(
        np.isfinite(x).all() and np.isfinite(rows).all(),
        "a vector holds an element that is not a finite number",
    )
    if len(x) == 0:
        return np.zeros(len(rows))
    x, rows = _scaled(x), _scaled(rows)
    # Zero only where a vector is: otherwise its largest element is 1 now.
    norms = np.sqrt(_ordered_sum(x * x) * _ordered_sum(rows * rows))
    found = np.divide(_ordered_sum(x * rows), norms, out=np.zeros(len(rows)), where=norms > 0)
    bounded: NDArray[np.float64] = np.clip(found, -1.0, 1.0)
    return bounded


def as_vector(value: Any, name: str) -> NDArray[np.float64]:
    """An array-like as float64 [n]. Raises InvalidInputError for what is no vector of numbers."""
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):
        found = np.empty(())
    if found.ndim != 1 or (found.dtype.kind not in "fiu" and len(found) > 0):
        what = type(value).__name__
        raise InvalidInputError(field=name, found=f"of type {what}", expected="a vector of numbers")
    return found.astype(np.float64)


def _scaled(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors [..., d] divided by their largest element, which keeps squares in range."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled: NDArray[np.float64] = vectors / np.where(largest == 0, 1.0, largest)
    return scaled


def _ordered_sum(terms: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of float64 [..., d], d > 0, from the first term to the last, as a loop makes them.

    numpy's own sum adds in pairs of pairs, which gives other bits.
    """
    sums: NDArray[np.float64] = np.add.accumulate(terms, axis=-1)[..., -1]
    return sums
