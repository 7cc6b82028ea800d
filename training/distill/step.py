"""Gradients of one batch: by hand on a CPU, or by autograd anywhere."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from training.distill.config import Config
from training.distill.data import Batch
from training.distill.fast import Step, Weights, pack, prepare, split
from training.distill.optimiser import TABLE, FlatAdam
from training.distill.student import Parameters, forward, straight, table_values

Gradients = tuple[float, Tensor, Tensor, Tensor]


class Stepper(Protocol):
    """Anything that turns a batch into gradients."""

    def gradients(self, batch: Batch) -> Gradients:
        """(mean loss, flat gradient, distinct table rows [n], their gradient [n, d])."""
        ...


class QuickStepper:
    """Micro-batches shared between threads, each computing its part alone.

    Threads meet once a batch, so a core that is taken away costs little.
    """

    def __init__(
        self,
        config: Config,
        params: Parameters,
        dense: FlatAdam,
        pool: ThreadPoolExecutor,
        workers: int,
    ) -> None:
        self.config, self.params, self.pool, self.workers = config, params, pool, workers
        self.steps = [Step(config.shape, config.relation, config.settled) for _ in range(workers)]
        self.held = [dense.gradients() for _ in range(workers)]

    def gradients(self, batch: Batch) -> Gradients:
        """See Stepper."""
        distinct, slots = np.unique(batch.ids, return_inverse=True)
        rows = torch.from_numpy(distinct)
        values = table_values(self.params[TABLE][rows], self.config.shape)
        values = torch.cat([values, values.new_zeros(1, values.shape[1])])
        weights = prepare(self.params, self.config.shape)
        parts = split(batch, self.config.micro_tokens)
        left = iter(parts)
        where = torch.from_numpy(slots.reshape(-1))
        jobs = [
            self.pool.submit(self._work, i, left, batch, where, values, weights)
            for i in range(self.workers)
        ]
        done = [job.result() for job in jobs]
        loss = sum(part[0] for part in done) / len(batch.lengths)
        flat = self.held[0][0]
        row_gradient = done[0][1]
        for (other, _), (_, more) in zip(self.held[1:], done[1:], strict=True):
            flat.add_(other)
            row_gradient.add_(more)
        return loss, flat, rows, row_gradient[:-1]

    @torch.no_grad()
    def _work(
        self,
        worker: int,
        left: object,
        batch: Batch,
        slots: Tensor,
        values: Tensor,
        weights: list[Weights],
    ) -> tuple[float, Tensor]:
        flat, views = self.held[worker]
        flat.zero_()
        total, rows = 0.0, torch.zeros_like(values)
        ends = np.cumsum(batch.lengths)
        for low, high in left:  # type: ignore[attr-defined]
            tokens = slice(int(ends[low] - batch.lengths[low]), int(ends[high - 1]))
            padded, starts = pack(
                slots[tokens], torch.from_numpy(batch.lengths[low:high]), len(values) - 1
            )
            loss = self.steps[worker].run(
                self.params,
                views,
                weights,
                values,
                padded,
                starts,
                torch.from_numpy(batch.targets[low:high]),
                1 / len(batch.lengths),
                rows,
            )
            total += loss
        return total, rows


class PlainStepper:
    """Autograd over the reference pass: any device; relational loss over all pairs of a batch."""

    def __init__(self, config: Config, params: Parameters, dense: FlatAdam) -> None:
        self.config, self.params, self.dense = config, params, dense

    def gradients(self, batch: Batch) -> Gradients:
        """See Stepper."""
        device = self.params[TABLE].device
        distinct, slots = np.unique(batch.ids, return_inverse=True)
        rows = torch.from_numpy(distinct).to(device)
        targets = torch.from_numpy(batch.targets).to(device)
        with torch.enable_grad():
            leaves = {
                name: value.detach().requires_grad_()
                for name, value in self.params.items()
                if name != TABLE
            }
            held = self.params[TABLE][rows].requires_grad_()
            values = straight(held, table_values(held.detach(), self.config.shape))
            x = values[torch.from_numpy(slots.reshape(-1)).to(device)]
            unit = forward(leaves, self.config.shape, x, torch.from_numpy(batch.lengths).to(device))
            loss = (1 - (unit * targets).sum(1)).mean()
            whole = loss
            if self.config.relation:
                gap = (unit @ unit.T - targets @ targets.T).square()
                pairs = len(gap) * (len(gap) - 1)
                whole = loss + self.config.relation * (gap.sum() - gap.diagonal().sum()) / pairs
            whole.backward()  # type: ignore[no-untyped-call]
        flat, views = self.dense.gradients()
        for name, leaf in leaves.items():
            if leaf.grad is not None:
                views[name].copy_(leaf.grad)
        assert held.grad is not None
        return float(loss.detach()), flat, rows, held.grad
