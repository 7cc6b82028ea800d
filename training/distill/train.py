"""Trains a student; a killed run goes on where its last checkpoint was.

    python -m training.distill.train CONFIG.toml [--set KEY=VALUE …] [--workers 2]

Everything goes to <cache>/runs/<name>/: checkpoint.pt, kept-*.pt, log.csv, config.json.
"""

from __future__ import annotations

import argparse
import csv
import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

from training.distill.checkpoint import load_checkpoint, parameters, run_folder, save_checkpoint
from training.distill.config import Config, plain, read_config
from training.distill.data import Sampler, token_counts
from training.distill.measure import Unseen
from training.distill.optimiser import TABLE, Average, FlatAdam, RowAdam, Settling
from training.distill.paths import cache_dir, note_pid, write_atomically
from training.distill.record import before, history
from training.distill.rows import library
from training.distill.start import static_start
from training.distill.step import PlainStepper, QuickStepper, Stepper
from training.distill.student import Parameters, matrix_names, new_layer


def _loaded_start(config: Config, corpus: Path) -> tuple[Parameters, dict[str, Any] | None]:
    """Parameters to begin with, and the state they come from."""
    import numpy as np

    if config.start == "static":
        with np.load(corpus / "tokens.npz") as held:
            tokens = torch.from_numpy(held["vectors"].astype(np.float32))
        counts = token_counts(corpus, config.shape.vocab_size, config.most_chunks)
        return static_start(config.shape, tokens, torch.from_numpy(counts)), None
    state = load_checkpoint(config.start)
    return parameters(state, config.start_mean), state


class Run:
    """One training run: parameters, optimisers, data position and counters."""

    def __init__(self, config: Config, workers: int, device: str = "cpu") -> None:
        self.config = config
        self.folder = run_folder(config.name)
        corpus = cache_dir() / "corpus" / config.corpus
        latest = self.folder / "checkpoint.pt"
        resumed = load_checkpoint(latest) if latest.exists() else None
        torch.manual_seed(config.seed)
        params, origin = (
            (dict(resumed["params"]), None) if resumed else _loaded_start(config, corpus)
        )
        generator = torch.Generator().manual_seed(config.seed)
        for layer in range(config.shape.n_layers):
            if f"layers.{layer}.ln_1.weight" not in params:
                params |= new_layer(config.shape, layer, generator, config.residual)
        self.params: Parameters = {k: v.to(device) for k, v in params.items()}
        matrices = set(matrix_names(config.shape))
        rates = {
            name: config.rates.matrices if name in matrices else config.rates.rest
            for name in self.params
            if name != TABLE
        }
        if config.settled:
            rates |= dict.fromkeys(matrices, 0.0)
        for i in range(config.shape.n_layers):
            for name in ("attn.out", "ffn.up", "ffn.down"):
                rates[f"layers.{i}.{name}.bias"] = config.rates.matrices
        pool = ThreadPoolExecutor(workers)
        moved = tuple(matrix_names(config.shape)) if config.muon else ()
        self.dense = FlatAdam(self.params, rates, config.clip, moved, pool)
        self.rows = RowAdam(self.params[TABLE])
        self.average = (
            Average(self.dense, self.rows.table, config.average_texts, config.batch_texts)
            if config.average_texts
            else None
        )
        if config.settle_texts and not self.average:
            raise SystemExit("settle_texts needs average_texts: weights settle where their mean is")
        self.settling = (
            Settling(self.dense, self.average, matrix_names(config.shape))
            if config.settle_texts and self.average
            else None
        )
        self.data = Sampler(
            corpus,
            seed=config.seed,
            most_chunks=config.most_chunks,
            first_chunk=config.first_chunk,
            neighbours=config.neighbours,
        )
        self.texts = self.tokens = 0
        self.spent = self.loss = 0.0
        self.unseen = Unseen.read(corpus)
        self.history = history(resumed) if resumed else before(origin)
        if resumed:
            self._restore(resumed)
            if self.settling:
                self.settling.restore(resumed["stays"])
        elif origin and config.keep_state:
            self._restore(origin)
            self.texts = self.tokens = 0
            self.spent = self.loss = 0.0
        quick = device == "cpu" and library() is not None
        self.stepper: Stepper = (
            QuickStepper(config, self.params, self.dense, pool, workers)
            if quick
            else PlainStepper(config, self.params, self.dense)
        )

    def _restore(self, state: dict[str, Any]) -> None:
        self.dense.restore(state["dense"])
        self.rows.restore(state["rows"])
        self.data.restore(state["data"])
        self.texts, self.tokens, self.spent = state["texts"], state["tokens"], state["spent"]
        self.loss = state.get("loss", 0.0)
        if self.average and "average" in state:
            self.average.restore(state["average"])
        torch.set_rng_state(state["random"])

    def state(self) -> dict[str, Any]:
        """Everything, for a checkpoint."""
        return {
            "params": {k: v.clone() for k, v in self.params.items()},
            "dense": self.dense.state(),
            "rows": self.rows.state(),
            "data": self.data.state(),
            "texts": self.texts,
            "tokens": self.tokens,
            "spent": self.spent,
            "loss": self.loss,
            "random": torch.get_rng_state(),
            "config": plain(self.config),
            "history": self.history,
            **({"average": self.average.state()} if self.average else {}),
            **({"stays": self.settling.stays} if self.settling else {}),
        }

    def step(self) -> None:
        """One batch; `loss` is the running mean of the batches' losses."""
        began = time.process_time()
        batch = self.data.next(self.config.batch_texts)
        factor = self.config.factor(self.texts)
        with torch.no_grad():
            loss, gradient, rows, row_gradient = self.stepper.gradients(batch)
            self.dense.step(gradient, factor)
            self.rows.step(rows, row_gradient, self.config.rates.table * factor)
            if self.average:
                self.average.update(self.dense.steps)
            if self.settling and self.dense.steps % Settling.EVERY == 0:
                self.settling.update(self.config.settled_share(self.texts))
        self.texts += len(batch.lengths)
        self.tokens += len(batch.ids)
        self.spent += time.process_time() - began
        self.loss = 0.98 * self.loss + 0.02 * loss if self.loss else loss


def _say(run: Run, rate: float, began: float) -> dict[str, object]:
    left = (run.config.total_texts - run.texts) / rate / 60 if rate else 0.0
    scores = run.unseen.scores(run.params, run.config.shape)
    row: dict[str, object] = {
        "texts": run.texts,
        "loss": round(run.loss, 5),
        "factor": round(run.config.factor(run.texts), 4),
        "cpu_minutes": round(run.spent / 60, 2),
        "wall_minutes": round((time.time() - began) / 60, 2),
        "texts_per_s": round(rate),
        "tokens": run.tokens,
        "chunks": len(run.data.seen),
        **scores,
    }
    if run.average:
        scores = run.unseen.scores(run.average.params(), run.config.shape)
        row |= {f"mean_{name}": score for name, score in scores.items()}
    print(json.dumps(row), f"left {left:.0f} min", flush=True)
    return row


def _log(path: Path, row: dict[str, object]) -> None:
    new = not path.exists()
    with path.open("a", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=list(row))
        if new:
            writer.writeheader()
        writer.writerow(row)


class StopAsked:
    """SIGTERM and SIGINT end the run after the step at hand, with a checkpoint."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: object) -> None:
        self.asked = True


def train(config: Config, workers: int, device: str = "cpu", stop_texts: int | None = None) -> Run:
    """Run to the end (or to stop_texts, with a checkpoint there); resumes by itself."""
    run = Run(config, workers, device)
    run.folder.mkdir(parents=True, exist_ok=True)
    write_atomically(run.folder / "config.json", json.dumps(plain(config), indent=1).encode())
    began, saved = time.time(), time.monotonic()
    mark_texts, mark_time = run.texts, time.monotonic()
    end = min(config.total_texts, stop_texts or config.total_texts)
    if run.texts == 0:
        _log(run.folder / "log.csv", _say(run, 0.0, began))
    stop = StopAsked()
    while run.texts < end and not stop.asked:
        before = run.texts
        run.step()
        every = config.check_every_texts
        if before // every != run.texts // every or run.texts >= end:
            rate = (run.texts - mark_texts) / (time.monotonic() - mark_time)
            _log(run.folder / "log.csv", _say(run, rate, began))
            mark_texts, mark_time = run.texts, time.monotonic()
        every = config.keep_every_texts
        if before // every != run.texts // every:
            save_checkpoint(run.folder / f"kept-{run.texts:010d}.pt", run.state())
        due = time.monotonic() - saved > config.checkpoint_minutes * 60
        if due or run.texts >= end or stop.asked:
            save_checkpoint(run.folder / "checkpoint.pt", run.state())
            saved = time.monotonic()
    return run


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("config", type=Path)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    torch.set_num_threads(1 if given.device == "cpu" else 4)
    config = read_config(given.config, given.set)
    note_pid(f"train {config.name}")
    train(config, given.workers, given.device)


if __name__ == "__main__":
    main()
