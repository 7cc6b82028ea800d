"""A run's configuration: one TOML file, readable and complete.

python -m training.distill.config FILE.toml …    checks files, prints each shape and its bytes
"""

from __future__ import annotations

import argparse
import tomllib
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tern_engine.format import Header, file_bytes, write_header

from training.distill.student import Shape


@dataclass(frozen=True)
class Rates:
    """Learning rates at full height."""

    matrices: float = 2e-3
    table: float = 5e-3
    rest: float = 1e-3


@dataclass(frozen=True)
class Config:
    """What one run does.

    start: "static", or "run:NAME" (its checkpoint) or a path of a checkpoint. Layers that the
    start lacks are fresh. keep_state continues the optimiser and the data position too.
    The rate rises over warm_texts, stays for hold_texts and falls to zero over decay_texts;
    with decay_texts 0 it stays until hold_texts. muon: matrices move by orthogonalised momentum.
    average_texts: a running mean of the weights over about so many texts is kept and scored, too.
    start_mean: begin with the mean that the start kept. settled: the three-valued weights stay.
    relation: weight of the loss for the cosines between the texts of a micro-batch. neighbours:
    texts that the teacher finds alike come in groups of so many, so that it sees close pairs, too.
    first_chunk, most_chunks: which of a plan's chunks are learned from; later ones are made texts.
    settle_texts: over the last so many texts they come to stay, nearest their threshold first.
    """

    name: str
    corpus: str = "main"
    shape: Shape = field(default_factory=Shape)
    start: str = "static"
    start_mean: bool = False
    keep_state: bool = False
    batch_texts: int = 512
    micro_tokens: int = 1024
    rates: Rates = field(default_factory=Rates)
    clip: float = 1.0
    muon: bool = False
    warm_texts: int = 50_000
    hold_texts: int = 1_000_000
    decay_texts: int = 0
    decay_shape: str = "linear"
    residual: float = 0.05
    relation: float = 0.0
    average_texts: int = 0
    settled: bool = False
    settle_texts: int = 0
    most_chunks: int = 1_000_000
    first_chunk: int = 0
    neighbours: int = 0
    seed: int = 0
    checkpoint_minutes: float = 4.0
    keep_every_texts: int = 2_000_000
    check_every_texts: int = 250_000

    @property
    def total_texts(self) -> int:
        """Where the run ends."""
        return self.hold_texts + self.decay_texts

    def factor(self, texts: int) -> float:
        """The learning rate's share of its height after `texts` texts of this run."""
        if texts < self.warm_texts:
            return max(0.02, texts / self.warm_texts)
        if texts <= self.hold_texts or not self.decay_texts:
            return 1.0
        left = max(0.0, 1 - (texts - self.hold_texts) / self.decay_texts)
        return left if self.decay_shape == "linear" else 1 - (1 - left) ** 0.5

    def settled_share(self, texts: int) -> float:
        """The share of the three-valued weights that stay after `texts` texts; all for the last
        tenth of settle_texts."""
        if not self.settle_texts:
            return 0.0
        gone = (texts - self.total_texts) / self.settle_texts + 1
        return min(1.0, max(0.0, gone / 0.9))


def _made(kind: type[Any], values: dict[str, Any]) -> Any:
    known = {item.name for item in fields(kind)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise SystemExit(f"unknown setting {unknown[0]!r}; known: {', '.join(sorted(known))}")
    return kind(**values)


def from_values(values: dict[str, Any]) -> Config:
    """A config of plain values; unknown settings are refused."""
    values = dict(values)
    values["shape"] = _made(Shape, values.get("shape", {}))
    values["rates"] = _made(Rates, values.get("rates", {}))
    config: Config = _made(Config, values)
    return config


def read_config(path: Path, changes: list[str]) -> Config:
    """A TOML file, with KEY=VALUE changes (a dot reaches into a table)."""
    values = tomllib.loads(path.read_text())
    for change in changes:
        where, _, value = change.partition("=")
        parsed = tomllib.loads(f"v = {value}")["v"] if value else ""
        *outer, last = where.split(".")
        at = values
        for name in outer:
            at = at.setdefault(name, {})
        at[last] = parsed
    return from_values(values)


def plain(config: Config) -> dict[str, Any]:
    """The config as nested plain values, for checkpoints and logs."""
    return asdict(config)


def model_bytes(shape: Shape) -> int:
    """Size of the packed model. ModelShapeError for a shape that the format does not take."""
    header = Header(
        embedding_format=shape.table,
        vocab_size=shape.vocab_size,
        d_model=shape.d_model,
        n_layers=shape.n_layers,
        n_heads=shape.n_heads,
        ffn_dim=shape.ffn_dim,
        output_dim=shape.output_dim,
        max_seq_len=shape.max_seq_len,
    )
    write_header(header)  # refuses what no reader would take
    return file_bytes(header)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path)
    for path in parser.parse_args().files:
        shape = read_config(path, []).shape
        size = f"{model_bytes(shape):,} bytes" if shape.n_layers else "a start"
        print(
            f"{path.stem}: {shape.table} d {shape.d_model}, {shape.n_layers} layers, "
            f"{shape.n_heads} heads, ffn {shape.ffn_dim}: {size}"
        )


if __name__ == "__main__":
    main()
