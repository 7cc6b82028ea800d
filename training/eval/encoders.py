"""What can be scored: a packed model in the shipped engine, the teacher, a training checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from training.distill.student import Parameters, Shape

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Encoder:
    """A name, the model's SHA-256 (empty for the teacher) and texts → unit vectors [n, dim]."""

    name: str
    sha256: str
    encode: Callable[[Sequence[str]], Vectors]


def engine_encoder(path: Path) -> Encoder:
    """A `.bin` in the shipped engine; its build must read the file's table format."""
    from tern_engine import Engine

    engine = Engine.load(path)

    def encode(texts: Sequence[str]) -> Vectors:
        return np.asarray(engine.embed_batch(list(texts)), np.float32)

    return Encoder(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), encode)


def teacher_encoder() -> Encoder:
    """The teacher in float32."""
    from training.distill.teacher import Teacher

    return Encoder("teacher", "", Teacher().encode)


def checkpoint_encoder(where: str, table: str | None = None) -> Encoder:
    """A training checkpoint (a path or run:NAME), its table in another format where given."""
    from training.distill.checkpoint import load_checkpoint
    from training.distill.config import from_values

    state = load_checkpoint(where)
    shape = from_values(state["config"]).shape
    if table:
        shape = replace(shape, table=table)
    label = where if not table else f"{where} table={table}"
    return Encoder(f"{label} at {state['texts']} texts", "", _student(state["params"], shape))


def torch_encoder(path: Path) -> Encoder:
    """A `.bin` in the training code's forward pass: several times the engine's speed here."""
    from training.distill.unpacked import read_model

    params, shape = read_model(path)
    return Encoder(
        f"{path.name} (torch)",
        hashlib.sha256(path.read_bytes()).hexdigest(),
        _student(params, shape),
    )


def _student(params: Parameters, shape: Shape) -> Callable[[Sequence[str]], Vectors]:
    from training.distill.data import Chunk
    from training.distill.measure import vectors
    from training.distill.teacher import teacher_tokenizer

    tokenizer = teacher_tokenizer(shape.max_seq_len)

    def encode(texts: Sequence[str]) -> Vectors:
        ids = [e.ids for e in tokenizer.encode_batch(list(texts))]
        lengths = np.array([len(row) for row in ids], np.int64)
        starts = np.cumsum(lengths) - lengths
        joined = np.concatenate([np.array(row, np.uint16) for row in ids])
        blank = np.zeros((len(ids), 0), np.float16)
        return vectors(params, shape, Chunk(joined, starts, lengths, blank))

    return encode


def open_encoder(what: str) -> Encoder:
    """`teacher`, a `.bin`, `torch:` and a `.bin`, or a checkpoint with @FORMAT or without."""
    if what == "teacher":
        return teacher_encoder()
    if what.startswith("torch:"):
        return torch_encoder(Path(what.removeprefix("torch:")))
    if what.endswith(".bin"):
        return engine_encoder(Path(what))
    where, _, table = what.partition("@")
    return checkpoint_encoder(where, table or None)
