"""Random models, with weights spread so that no activation is degenerate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.format import Header
from tern_tools.models.pack import pack, tensor_shapes

# A few hundred kilobytes: for tests that need a whole model but not a real vocabulary.
TINY = Header("int4", 50, 12, 2, 4, 20, 7, 16)


def random_tensors(header: Header, seed: int) -> dict[str, NDArray[Any]]:
    """Float tensors of a model of these dimensions, as training.pack names them.

    Norms vary in gain and offset; biases are large, because they are added before the rescale by
    1 / (s_w * s_x), which is about a thousandth; rows of the table differ in size.
    """
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> NDArray[Any]:
        return random.standard_normal(shape, dtype=np.float32)

    size = np.exp(0.3 * normal(header.vocab_size, 1))
    tensors = {"embedding.weight": 0.5 * size * normal(header.vocab_size, header.d_model)}
    for name, shape in tensor_shapes(header).items():
        part, leaf = name.split(".")[-2:]
        if len(shape) == 2:
            gain = 1.5 if part in ("q", "k") else 1.0
            tensors[name] = gain / np.sqrt(np.float32(shape[1])) * normal(*shape)
        elif leaf == "weight":
            tensors[name] = 1 + 0.2 * normal(*shape)
        elif part in ("up", "down") or name.endswith("attn.out.bias"):
            tensors[name] = 300 * normal(*shape)
        else:
            tensors[name] = 0.2 * normal(*shape)
    return tensors


def random_model(header: Header, seed: int) -> bytes:
    """A valid `.bin` with this header and random weights; the same bytes for the same seed."""
    return pack(
        random_tensors(header, seed),
        embedding_format=header.embedding_format,
        n_heads=header.n_heads,
        max_seq_len=header.max_seq_len,
    )


def of_format(header: Header, embedding_format: str) -> Header:
    """The header with another table format."""
    return replace(header, embedding_format=embedding_format)
