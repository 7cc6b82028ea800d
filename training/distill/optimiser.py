"""Adam over one flat vector of parameters, and lazy Adam over the table's rows."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

from training.distill.rows import call, library
from training.distill.student import Parameters

BETAS = (0.9, 0.98)
TABLE = "embedding.weight"


def orthogonal(matrix: Tensor, rounds: int = 5) -> Tensor:
    """About the nearest matrix with all singular values 1 (0.7 to 1.2), by Newton and Schulz.

    The quintic's coefficients are Muon's; bfloat16 is enough for a direction.
    """
    x = matrix.bfloat16()
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.t()
    x = x / (x.norm() + 1e-7)
    for _ in range(rounds):
        square = torch.mm(x, x.t())
        x = 3.4445 * x + torch.mm(-4.7750 * square + 2.0315 * torch.mm(square, square), x)
    result: Tensor = (x.t() if tall else x).float()
    return result


class FlatAdam:
    """Every parameter but the table, as views of one flat vector with one learning rate each.

    Moments, clipping and the update run over the whole vector, so a step costs a few passes.
    """

    def __init__(
        self,
        params: Parameters,
        rates: dict[str, float],
        clip: float,
        orthogonal_names: tuple[str, ...] = (),
        pool: ThreadPoolExecutor | None = None,
    ) -> None:
        """Parameters become views here. `orthogonal_names`: matrices that move as Muon does,
        by their momentum made orthogonal, at Adam's usual size; `pool` shares that work."""
        self.orthogonal_names = orthogonal_names
        self.pool = pool
        self.names = [name for name in params if name != TABLE]
        self.clip = clip
        device = params[TABLE].device
        self.values = torch.cat([params[name].flatten() for name in self.names]).to(device)
        self.rates = torch.cat(
            [torch.full((params[name].numel(),), rates[name]) for name in self.names]
        ).to(device)
        self.first = torch.zeros_like(self.values)
        self.second = torch.zeros_like(self.values)
        self.steps = 0
        self.places: dict[str, tuple[int, torch.Size]] = {}
        at = 0
        for name in self.names:
            shape = params[name].shape
            self.places[name] = (at, shape)
            params[name] = self.values[at : at + shape.numel()].view(shape)
            at += shape.numel()

    def gradients(self) -> tuple[Tensor, Parameters]:
        """A zeroed flat gradient and its views by name."""
        flat = torch.zeros_like(self.values)
        views = {
            name: flat[at : at + shape.numel()].view(shape)
            for name, (at, shape) in self.places.items()
        }
        return flat, views

    def step(self, gradient: Tensor, factor: float) -> float:
        """Update by `gradient` (clipped in place) with rates · factor; returns its norm."""
        norm = float(gradient.norm())
        if norm > self.clip:
            gradient.mul_(self.clip / norm)
        self.steps += 1
        one, two = BETAS
        self.first.lerp_(gradient, 1 - one)
        self.second.mul_(two).addcmul_(gradient, gradient, value=1 - two)
        fix = 1 / (1 - two**self.steps)
        change = (self.second * fix).sqrt_().add_(1e-8).reciprocal_().mul_(self.first)
        fix = 1 - one**self.steps
        self._orthogonalise(gradient, change, fix)
        change.mul_(self.rates)
        self.values.add_(change, alpha=-factor / fix)
        return norm

    def _orthogonalise(self, gradient: Tensor, change: Tensor, fix: float) -> None:
        def one(name: str) -> None:
            at, shape = self.places[name]
            part = slice(at, at + shape.numel())
            ahead = torch.lerp(gradient[part], self.first[part], BETAS[0]).view(shape)
            size = 0.2 * max(shape) ** 0.5 * fix
            change[part].copy_((orthogonal(ahead) * size).flatten())

        list((self.pool.map if self.pool else map)(one, self.orthogonal_names))

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps besides the parameters."""
        return {"first": self.first, "second": self.second, "steps": self.steps}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from `state`."""
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])
        self.steps = state["steps"]


class RowAdam:
    """Adam on the table that touches only the rows of the batch, each with its own step count."""

    def __init__(self, table: Tensor) -> None:
        self.table = table
        self.first = torch.zeros_like(table)
        self.second = torch.zeros_like(table)
        self.count = torch.zeros(len(table), dtype=torch.int32, device=table.device)

    def step(self, rows: Tensor, gradient: Tensor, rate: float) -> None:
        """Move the distinct `rows` [n] along `gradient` [n, d]."""
        one, two = BETAS
        if self.table.device.type == "cpu" and library() is not None:
            call(
                "adam_rows",
                self.table,
                self.first,
                self.second,
                self.count,
                rows,
                gradient.contiguous(),
                len(rows),
                gradient.shape[1],
                rate,
                one,
                two,
            )
            return
        seen = self.count[rows] + 1
        self.count[rows] = seen
        first = self.first[rows].lerp_(gradient, 1 - one)
        second = self.second[rows].mul_(two).addcmul_(gradient, gradient, value=1 - two)
        self.first[rows], self.second[rows] = first, second
        power = seen[:, None].float()
        size = (second / (1 - two**power)).sqrt_().add_(1e-8)
        self.table[rows] -= rate * first / (1 - one**power) / size

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps besides the table."""
        return {"first": self.first, "second": self.second, "count": self.count}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from `state`."""
        self.first.copy_(state["first"])
        self.second.copy_(state["second"])
        self.count.copy_(state["count"])


class Settling:
    """Three-valued weights that stay, more and more of them, on the side where their mean is.

    Those nearest their threshold come first: they go to and fro most, and what they do to the
    others is noise (Nagel et al. 2022).
    """

    EVERY = 16  # steps

    def __init__(self, dense: FlatAdam, average: Average, names: Sequence[str]) -> None:
        self.dense, self.average, self.names = dense, average, names
        self.stays = torch.zeros(len(dense.values), dtype=torch.bool)

    def update(self, share: float) -> None:
        """Have `share` of each matrix stay."""
        for name in self.names:
            at, shape = self.dense.places[name]
            part = slice(at, at + shape.numel())
            values, stays = self.dense.values[part], self.stays[part]
            more = round(share * len(values)) - int(stays.sum())
            if more <= 0:
                continue
            mean = self.average.values[part]
            scale = values.abs().median()
            distance = (mean.abs() / scale - 0.5).abs().masked_fill_(stays, torch.inf)
            chosen = distance.topk(more, largest=False).indices
            # In the middle of its range, where a change of the scale does not reach it.
            values[chosen] = (mean[chosen] / scale).round_().clamp_(-1, 1) * scale
            stays[chosen] = True
        self.dense.rates.masked_fill_(self.stays, 0.0)

    def restore(self, stays: Tensor) -> None:
        """Continue with the weights that stayed at a checkpoint."""
        self.stays.copy_(stays)
        self.dense.rates.masked_fill_(self.stays, 0.0)


class Average:
    """Running mean of the latent weights: codes at their threshold to and fro settle on the side
    where they are more often, without waiting for the rate to fall.

    Taken every EVERY steps, over about `texts` texts.
    """

    EVERY = 8

    def __init__(self, dense: FlatAdam, table: Tensor, texts: int, batch_texts: int) -> None:
        self.dense, self.table = dense, table
        self.share = min(1.0, self.EVERY * batch_texts / texts)
        self.values, self.rows = dense.values.clone(), table.clone()
        self.taken = 0

    def update(self, steps: int) -> None:
        """Take the weights in, on every EVERY-th step; at first they count as a plain mean."""
        if steps % self.EVERY:
            return
        self.taken += 1
        share = max(self.share, 1 / (self.taken + 1))
        self.values.lerp_(self.dense.values, share)
        self.rows.lerp_(self.table, share)

    def params(self) -> Parameters:
        """The mean weights by name (views)."""
        held = {
            name: self.values[at : at + shape.numel()].view(shape)
            for name, (at, shape) in self.dense.places.items()
        }
        return {TABLE: self.rows, **held}

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {
            "params": {name: value.clone() for name, value in self.params().items()},
            "taken": self.taken,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from `state`."""
        for name, value in self.params().items():
            value.copy_(state["params"][name])
        self.taken = state["taken"]
