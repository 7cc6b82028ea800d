"""A start without training: teacher vectors of single tokens as a layerless student."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from training.distill.student import Parameters, Shape


def static_start(
    shape: Shape, token_vectors: Tensor, counts: Tensor, rarity: float = 1e-3, seed: int = 0
) -> Parameters:
    """Table, final norm and projection such that mean-pooling gives frequency-weighted vectors.

    token_vectors [vocabulary, 384]: the teacher's vector of each token alone; counts [vocabulary]:
    how often the corpus has it. The final layer norm would erase the tokens' weights, so rows live
    on a basis orthogonal to the ones vector and a spare axis, which the projection ignores, fills
    each row up to one common length.
    """
    d = shape.d_model
    vectors = torch.nn.functional.normalize(token_vectors.float(), dim=1)
    share = counts.float() + 0.5
    share = share / share.sum()
    centre = (vectors * share[:, None]).sum(0)
    weighted = (vectors - centre) * (rarity / (rarity + share))[:, None]
    axes = min(d - 2, vectors.shape[1])
    seen = weighted * share.sqrt().clamp(min=1e-5)[:, None]
    _, basis = torch.linalg.eigh(seen.T @ seen)
    chosen = basis.flip(1)[:, :axes].T  # [axes, 384], strongest first
    reduced = weighted @ chosen.T
    lengths = reduced.norm(dim=1, keepdim=True)
    limit = torch.quantile(lengths, 0.995)
    reduced = reduced * (0.98 * limit / lengths).clamp(max=1)
    spare = (limit.square() - reduced.square().sum(1, keepdim=True)).clamp(min=0).sqrt()
    generator = torch.Generator().manual_seed(seed)
    frame = torch.randn(d, d, generator=generator)
    frame[:, 0] = 1
    frame = torch.linalg.qr(frame)[0][:, 1 : axes + 2]  # [d, axes + 1], orthogonal to ones
    table = torch.cat([reduced, spare], 1) @ frame.T * (math.sqrt(d) / limit)
    table[0] = 0
    return {
        "embedding.weight": table.contiguous(),
        "ln_final.weight": torch.ones(d),
        "ln_final.bias": torch.zeros(d),
        "out.weight": (chosen.T @ frame[:, :axes].T * (limit / math.sqrt(d))).contiguous(),
        "out.bias": torch.zeros(shape.output_dim),
    }
