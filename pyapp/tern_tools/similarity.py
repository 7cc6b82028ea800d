"""Cosine similarity of two vectors."""

from __future__ import annotations

import math
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
    check(
        np.isfinite(x).all() and np.isfinite(y).all(),
        "a vector holds an element that is not a finite number",
    )
    # Dividing by the largest element first keeps the squares of any finite numbers in range.
    largest_x, largest_y = (float(np.abs(v).max(initial=0.0)) for v in (x, y))
    if largest_x == 0 or largest_y == 0:
        return 0.0
    x, y = x / largest_x, y / largest_y
    cosine = ordered_sum(x * y) / math.sqrt(ordered_sum(x * x) * ordered_sum(y * y))
    return max(-1.0, min(1.0, cosine))


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


def ordered_sum(terms: NDArray[np.float64]) -> float:
    """The sum of float64 [n], n > 0, from the first term to the last, as a loop would make it.

    numpy's own sum adds in pairs of pairs, which gives other bits.
    """
    return float(np.add.accumulate(terms)[-1])
