"""What can be scored: a packed model or a checkpoint in the shipped engine, or the teacher."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from tern_tools.models.pack import pack

from training.eval.engines import Engines

if TYPE_CHECKING:
    from training.distill.student import Parameters, Shape

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Encoder:
    """A name, the model file's SHA-256 (empty where there is none), what computes, and
    texts → unit vectors [n, dim]."""

    name: str
    sha256: str
    host: str
    encode: Callable[[Sequence[str]], Vectors]


@contextmanager
def open_encoder(what: str, cache: Path, workers: int = 2) -> Iterator[Encoder]:
    """`teacher`, a `.bin`, a checkpoint (a path or run:NAME), CHECKPOINT@FORMAT, or torch: and one.

    A checkpoint is packed, in the table format given or its own, and runs in the engine as a file
    would. torch: takes the training code's pass, for a quick look and for runs without layers.
    """
    if what == "teacher":
        from training.eval.teacher_cache import CachedTeacher

        yield Encoder("teacher", "", "torch float32", CachedTeacher(cache).encode)
    elif what.startswith("torch:"):
        yield _torch_encoder(what.removeprefix("torch:"))
    elif what.endswith(".bin"):
        with _in_engine(Path(what), Path(what).name, workers) as encoder:
            yield encoder
    else:
        params, shape, label = _checkpoint(what)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "model.bin"
            path.write_bytes(_packed(params, shape))
            with _in_engine(path, label, workers) as encoder:
                yield encoder


@contextmanager
def _in_engine(path: Path, name: str, workers: int) -> Iterator[Encoder]:
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    with Engines(path, workers) as engines:
        yield Encoder(name, sha256, engines.host, engines.encode)


def _checkpoint(where: str) -> tuple[Parameters, Shape, str]:
    from training.distill.checkpoint import load_checkpoint
    from training.distill.config import from_values

    where, _, table = where.partition("@")
    state = load_checkpoint(where)
    shape = from_values(state["config"]).shape
    if table:
        shape = replace(shape, table=table)
    name = where if where.startswith("run:") else Path(where).name
    return state["params"], shape, f"{name}, {shape.table} table, at {state['texts']:,} texts"


def _packed(params: Parameters, shape: Shape) -> bytes:
    from training.distill.export import tensors

    held = {name: value.numpy() for name, value in tensors(params, shape).items()}
    return pack(
        held, embedding_format=shape.table, n_heads=shape.n_heads, max_seq_len=shape.max_seq_len
    )


def _torch_encoder(what: str) -> Encoder:
    if what.endswith(".bin"):
        from training.distill.unpacked import read_model

        path = Path(what)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        params, shape = read_model(path)
        return Encoder(path.name, sha256, "torch", _student(params, shape))
    params, shape, label = _checkpoint(what)
    return Encoder(label, "", "torch", _student(params, shape))


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
