"""Tables of vectors and their scores: docs/index-format.md, sections 7 and 8.

Scores are bit for bit those of web/vectors.js, so that rankings agree to the last tie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import DimensionError

from ._check import check
from .similarity import as_vector

VectorKind = Literal["float32", "int8"]

# Rows scored at a time: their float64 copy stays in the cache.
_BLOCK_ROWS = 512


class Table(ABC):
    """The vectors of some passages, a row each. Not changed once made."""

    kind: VectorKind
    dim: int

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """float64 [n] of a query float32 [dim] of length 1."""

    @abstractmethod
    def rows(self, start: int, end: int) -> Table:
        """A view of some rows."""

    @abstractmethod
    def sections(self) -> tuple[bytes, bytes]:
        """Scales and vectors as they stand in the index file."""


class Float32Table(Table):
    """vectors: float32 [n, dim]."""

    kind = "float32"

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors = vectors
        self.dim = vectors.shape[1]

    def __len__(self) -> int:
        return len(self.vectors)

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        scores = np.zeros(len(self))
        weights = query.astype(np.float64)
        for first in range(0, len(self), _BLOCK_ROWS):
            block = self.vectors[first : first + _BLOCK_ROWS]
            columns = np.ascontiguousarray(block.T, dtype=np.float64)
            # Two sums, of even and of odd elements, each added from the first to the last.
            sums = np.zeros((2, len(block)))
            for i, weight in enumerate(weights):
                sums[i % 2] += columns[i] * weight
            scores[first : first + _BLOCK_ROWS] = sums[0] + sums[1]
        return scores

    def rows(self, start: int, end: int) -> Float32Table:
        return Float32Table(self.vectors[start:end])

    def sections(self) -> tuple[bytes, bytes]:
        return b"", self.vectors.astype("<f4", copy=False).tobytes()


class Int8Table(Table):
    """codes: int8 [n, dim], scales: float32 [n]."""

    kind = "int8"

    def __init__(self, codes: NDArray[np.int8], scales: NDArray[np.float32]) -> None:
        self.codes = codes
        self.scales = scales
        self.dim = codes.shape[1]

    def __len__(self) -> int:
        return len(self.codes)

    def scores(self, query: NDArray[np.float32]) -> NDArray[np.float64]:
        codes, scales = quantize(query[None])
        scores = np.zeros(len(self))
        weights = codes[0].astype(np.float64)
        for first in range(0, len(self), _BLOCK_ROWS):
            # Integers far below 2**53: exact in float64, in any order.
            block = self.codes[first : first + _BLOCK_ROWS].astype(np.float64)
            scores[first : first + _BLOCK_ROWS] = block @ weights
        exact: NDArray[np.float64] = scores * self.scales.astype(np.float64) * float(scales[0])
        return exact

    def rows(self, start: int, end: int) -> Int8Table:
        return Int8Table(self.codes[start:end], self.scales[start:end])

    def sections(self) -> tuple[bytes, bytes]:
        return self.scales.astype("<f4", copy=False).tobytes(), self.codes.tobytes()


def make_table(kind: VectorKind, vectors: NDArray[np.float32]) -> Table:
    """The table of vectors float32 [n, dim]."""
    return Float32Table(vectors) if kind == "float32" else Int8Table(*quantize(vectors))


def join_tables(kind: VectorKind, dim: int, tables: Sequence[Table]) -> Table:
    """One table with the rows of all, which are of this kind."""
    if not tables:
        return make_table(kind, np.zeros((0, dim), np.float32))
    if kind == "float32":
        parts: Any = [table.vectors for table in tables]  # type: ignore[attr-defined]
        return Float32Table(np.concatenate(parts))
    found: Any = tables
    codes = np.concatenate([table.codes for table in found])
    return Int8Table(codes, np.concatenate([table.scales for table in found]))


def quantize(
    vectors: NDArray[np.float32],
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """float32 [n, dim] as codes int8 [n, dim] and scales float32 [n]."""
    wide = vectors.astype(np.float64)
    scales = (np.abs(wide).max(axis=1, initial=0.0) / 127).astype(np.float32)
    # A scale of 0 is that of a zero vector, which any divisor leaves zero.
    divisors = np.where(scales == 0, 1.0, scales.astype(np.float64))
    codes = np.clip(np.rint(wide / divisors[:, None]), -127, 127)
    codes[scales == 0] = 0
    return codes.astype(np.int8), scales


def lengths(vectors: NDArray[Any]) -> NDArray[np.float64]:
    """Euclidean lengths in float64 of [n, dim], elements added from the first to the last."""
    wide = vectors.astype(np.float64)
    squares: NDArray[np.float64] = np.add.accumulate(wide * wide, axis=1)[:, -1]
    return np.sqrt(squares)


def unit_query(query: Any, dim: int) -> NDArray[np.float32]:
    """A vector that a caller gave, at length 1."""
    vector = as_vector(query, "the query")
    if len(vector) != dim:
        raise DimensionError(
            f"the query has {len(vector)} elements, the index's vectors have {dim}"
        )
    check(np.isfinite(vector).all(), "the query has an element that is not a finite number")
    with np.errstate(over="ignore"):
        length = float(lengths(vector[None])[0])
    check(
        0 < length < float("inf"),
        f"the query is a vector of length {length}, which has no direction",
    )
    return (vector / length).astype(np.float32)
