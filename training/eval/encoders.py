"""What can be scored: a packed model in the shipped engine, the teacher, a training checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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
    from training.distill.data import Chunk
    from training.distill.measure import vectors
    from training.distill.teacher import teacher_tokenizer

    state = load_checkpoint(where)
    shape = from_values(state["config"]).shape
    if table:
        shape = replace(shape, table=table)
    tokenizer = teacher_tokenizer(shape.max_seq_len)

    def encode(texts: Sequence[str]) -> Vectors:
        ids = [e.ids for e in tokenizer.encode_batch(list(texts))]
        lengths = np.array([len(row) for row in ids], np.int64)
        starts = np.cumsum(lengths) - lengths
        joined = np.concatenate([np.array(row, np.uint16) for row in ids])
        blank = np.zeros((len(ids), 0), np.float16)
        return vectors(state["params"], shape, Chunk(joined, starts, lengths, blank))

    label = where if not table else f"{where} table={table}"
    return Encoder(f"{label} at {state['texts']} texts", "", encode)


def open_encoder(what: str) -> Encoder:
    """`teacher`, a `.bin`, or a checkpoint, with @FORMAT after it for another table format."""
    if what == "teacher":
        return teacher_encoder()
    if what.endswith(".bin"):
        return engine_encoder(Path(what))
    where, _, table = what.partition("@")
    return checkpoint_encoder(where, table or None)
