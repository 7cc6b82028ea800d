"""Encoded chunks as training batches; the order is reproducible and chunks may join at any time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Batch:
    """Some texts: ids [m] packed, lengths [texts], target vectors [texts, 384] float32."""

    ids: NDArray[np.int64]
    lengths: NDArray[np.int64]
    targets: NDArray[np.float32]


@dataclass
class Chunk:
    """One encoded chunk: ids joined, where each text starts, lengths, vectors float16."""

    ids: NDArray[np.uint16]
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    vectors: NDArray[np.float16]

    @classmethod
    def read(cls, path: Path) -> Chunk:
        """Load a chunk written by encode."""
        with np.load(path) as held:
            lengths = held["length"].astype(np.int64)
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
            return cls(held["ids"], starts, lengths, held["vectors"])

    def pick(self, rows: NDArray[np.int64]) -> Batch:
        """The texts at `rows`, in that order."""
        lengths = self.lengths[rows]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        ids = self.ids[np.repeat(self.starts[rows], lengths) + within]
        return Batch(ids.astype(np.int64), lengths, self.vectors[rows].astype(np.float32))


def joined(chunks: list[Chunk]) -> Chunk:
    """Several chunks as one."""
    lengths = np.concatenate([c.lengths for c in chunks])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64)
    return Chunk(
        np.concatenate([c.ids for c in chunks]),
        starts,
        lengths,
        np.concatenate([c.vectors for c in chunks]),
    )


@dataclass
class Sampler:
    """Draws batches from pools of a few chunks, those seen least first.

    A chunk that joins late starts at the others' lowest count, so it gets its fair share and no
    more. The whole state is `state()`: a resumed sampler draws the same texts.
    """

    folder: Path
    pool_chunks: int = 8
    seed: int = 0
    most_chunks: int = 1_000_000
    first_chunk: int = 0
    neighbours: int = 0
    seen: dict[str, int] = field(default_factory=dict)
    pools: int = 0
    names: list[str] = field(default_factory=list)
    at: int = 0

    def __post_init__(self) -> None:
        self._pool: Chunk | None = None
        self._order: NDArray[np.int64] = np.empty(0, np.int64)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "seen": dict(self.seen),
            "pools": self.pools,
            "names": list(self.names),
            "at": self.at,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken; in a new pool if the one there has chunks that this
        sampler leaves out."""
        self.seen, self.pools = dict(state["seen"]), state["pools"]
        self.names, self.at = list(state["names"]), state["at"]
        if self.names and set(self.names) <= set(self._found()):
            self._load()

    def _found(self) -> list[str]:
        names = sorted(path.name for path in self.folder.glob("chunk_*.npz"))
        first = f"chunk_{self.first_chunk:04d}"
        return [name for name in names if name >= first][: self.most_chunks]

    def _load(self) -> None:
        self._pool = joined([Chunk.read(self.folder / name) for name in self.names])
        rng = np.random.default_rng([self.seed, self.pools])
        self._order = rng.permutation(len(self._pool.lengths))
        if self.neighbours:
            self._order = self._beside(rng)

    def _beside(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The order in groups of `neighbours` texts that the teacher finds alike: they are nearest
        to the same one of some texts. Groups are in random order."""
        assert self._pool is not None
        vectors, size = self._pool.vectors.astype(np.float32), self.neighbours
        centres = vectors[self._order[: max(1, len(vectors) // (8 * size))]].T
        parts = np.array_split(vectors, max(1, len(vectors) // 4096))
        nearest = np.concatenate([(part @ centres).argmax(1) for part in parts])
        order = self._order[np.argsort(nearest[self._order], kind="stable")]
        whole = len(order) // size * size
        groups = rng.permutation(order[:whole].reshape(-1, size))
        return np.concatenate([groups.reshape(-1), order[whole:]])

    def _refill(self) -> None:
        found = self._found()
        if not found:
            raise SystemExit(f"no encoded chunks in {self.folder}")
        known = [self.seen[name] for name in found if name in self.seen]
        for name in found:
            self.seen.setdefault(name, min(known, default=0))
        self.pools += 1
        tie = np.random.default_rng([self.seed, self.pools, 1]).permutation(len(found))
        ranked = sorted(range(len(found)), key=lambda i: (self.seen[found[i]], tie[i]))
        self.names = [found[i] for i in ranked[: self.pool_chunks]]
        for name in self.names:
            self.seen[name] += 1
        self.at = 0
        self._load()

    def next(self, texts: int) -> Batch:
        """The next batch of `texts` texts."""
        if self._pool is None or self.at + texts > len(self._order):
            self._refill()
        assert self._pool is not None
        rows = self._order[self.at : self.at + texts]
        self.at += texts
        return self._pool.pick(rows)


def token_counts(folder: Path, vocabulary: int, most_chunks: int = 1_000_000) -> NDArray[np.int64]:
    """How often each token occurs in the encoded chunks."""
    counts = np.zeros(vocabulary, np.int64)
    for path in sorted(folder.glob("chunk_*.npz"))[:most_chunks]:
        counts += np.bincount(Chunk.read(path).ids, minlength=vocabulary)
    return counts
