"""Quick checks during training: agreement with the teacher on the unseen texts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from training.distill.data import Chunk
from training.distill.fast import Step, pack, prepare, split
from training.distill.rows import library
from training.distill.student import Parameters, Shape, forward, table_values

PAIRS = 20_000
PAIR_SEED = 7


def spearman(first: NDArray[np.floating], second: NDArray[np.floating]) -> float:
    """Rank correlation, ties sharing their mean rank."""

    def ranks(values: NDArray[np.floating]) -> NDArray[np.float64]:
        _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
        ends = np.cumsum(counts)
        return np.asarray(((ends - counts + ends - 1) / 2.0)[where], np.float64)

    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def random_pairs(count: int) -> NDArray[np.int64]:
    """PAIRS reproducible pairs of different texts."""
    rng = np.random.default_rng(PAIR_SEED)
    left = rng.integers(0, count, PAIRS)
    right = (left + rng.integers(1, count, PAIRS)) % count
    return np.stack([left, right], 1)


def agreement(student: NDArray[np.floating], teacher: NDArray[np.floating]) -> float:
    """Spearman correlation of the cosines of random pairs."""
    pairs = random_pairs(len(student))

    def cosines(v: NDArray[np.floating]) -> NDArray[np.floating]:
        return np.asarray((v[pairs[:, 0]] * v[pairs[:, 1]]).sum(1))

    return spearman(cosines(student), cosines(teacher))


@torch.no_grad()
def vectors(
    params: Parameters, shape: Shape, chunk: Chunk, tokens: int = 2048, exact: bool = False
) -> NDArray[np.float32]:
    """Student vectors [texts, out] of a chunk's texts; `exact` takes the reference pass."""
    order = np.argsort(chunk.lengths, kind="stable")
    batch = chunk.pick(order)
    table = params["embedding.weight"]
    quick = not exact and table.device.type == "cpu" and library() is not None
    weights = prepare(params, shape) if quick else []
    step = Step(shape) if quick else None
    out = np.empty((len(order), shape.output_dim), np.float32)
    ends = np.cumsum(batch.lengths)
    for low, high in split(batch, tokens):
        ids = torch.from_numpy(batch.ids[ends[low] - batch.lengths[low] : ends[high - 1]])
        lengths = torch.from_numpy(batch.lengths[low:high]).to(table.device)
        x = table_values(table[ids.to(table.device)], shape)
        if step is not None:
            slots, starts = pack(torch.arange(len(x)), lengths, len(x))
            padded = torch.cat([x, x.new_zeros(1, x.shape[1])])[slots]
            mean, _, _ = step.pooled(params, weights, padded, starts)
            raw = torch.addmm(params["out.bias"], mean, params["out.weight"].t())
            unit = torch.nn.functional.normalize(raw, dim=1)
        else:
            unit = forward(params, shape, x, lengths)
        out[order[low:high]] = unit.cpu().numpy()
    return out


@dataclass
class Unseen:
    """The held-out texts and queries with the teacher's vectors."""

    sets: dict[str, Chunk]

    @classmethod
    def read(cls, folder: Path) -> Unseen:
        """From a corpus folder; sets that were not encoded are left out."""
        names = [name for name in ("held_out", "queries") if (folder / f"{name}.npz").exists()]
        return cls({name: Chunk.read(folder / f"{name}.npz") for name in names})

    def scores(self, params: Parameters, shape: Shape) -> dict[str, float]:
        """Spearman and mean cosine to the teacher per set."""
        found: dict[str, float] = {}
        for name, chunk in self.sets.items():
            got = vectors(params, shape, chunk)
            found[f"{name}_spearman"] = round(agreement(got, chunk.vectors), 4)
            found[f"{name}_cosine"] = round(float((got * chunk.vectors).sum(1).mean()), 4)
        return found
