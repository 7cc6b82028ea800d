"""BERT encoders for the benchmark's peer: their tensors, and a forward pass in numpy.

The forward pass is the judge of the peer: the quantized model that the benchmark times must agree
with it, or the figures are worth nothing. It is written for clearness, not speed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class BertShape:
    """Sizes of an encoder; names as in the model's `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.num_attention_heads

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> BertShape:
        """Raises ValueError for an encoder that the graph does not describe."""
        if config.get("hidden_act") != "gelu":
            raise ValueError(f"hidden_act is {config.get('hidden_act')!r}, expected 'gelu'")
        if config.get("position_embedding_type", "absolute") != "absolute":
            raise ValueError("position embeddings are not absolute ones")
        return cls(**{name: config[name] for name in cls.__dataclass_fields__})


Tensors = dict[str, Array]


def load(folder: Path) -> tuple[BertShape, Tensors]:
    """Read `config.json` and `model.safetensors`; the tensors come as float32 [out, in]."""
    shape = BertShape.from_config(json.loads((folder / "config.json").read_text("utf-8")))
    stored = load_file(folder / "model.safetensors")
    return shape, {name: value.astype(np.float32) for name, value in stored.items()}


def layer_prefix(layer: int) -> str:
    return f"encoder.layer.{layer}."


def _erf(x: Array) -> Array:
    return np.array([math.erf(v) for v in x.ravel().tolist()], np.float32).reshape(x.shape)


def _linear(x: Array, w: Tensors, name: str) -> Array:
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def _layer_norm(x: Array, w: Tensors, name: str, eps: float) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(eps))
    y: Array = scaled * w[name + ".weight"] + w[name + ".bias"]
    return y


def last_hidden_state(shape: BertShape, w: Tensors, ids: Sequence[int]) -> Array:
    """One text of T ids, all of them attended → [T, hidden_size]."""
    tokens, heads, eps = len(ids), shape.num_attention_heads, shape.layer_norm_eps
    x = (
        w["embeddings.word_embeddings.weight"][list(ids)]
        + w["embeddings.position_embeddings.weight"][:tokens]
        + w["embeddings.token_type_embeddings.weight"][0]
    )
    x = _layer_norm(x, w, "embeddings.LayerNorm", eps)
    for layer in range(shape.num_hidden_layers):
        at = layer_prefix(layer)

        def split(name: str, x: Array = x, at: str = at) -> Array:
            y = _linear(x, w, f"{at}attention.self.{name}")
            return y.reshape(tokens, heads, shape.head_size).transpose(1, 0, 2)

        q, k, v = split("query"), split("key"), split("value")
        score = q @ k.transpose(0, 2, 1) / np.float32(math.sqrt(shape.head_size))
        weight = np.exp(score - score.max(-1, keepdims=True))
        weight /= weight.sum(-1, keepdims=True)
        mixed = (weight @ v).transpose(1, 0, 2).reshape(tokens, shape.hidden_size)
        x = x + _linear(mixed, w, at + "attention.output.dense")
        x = _layer_norm(x, w, at + "attention.output.LayerNorm", eps)
        h = _linear(x, w, at + "intermediate.dense")
        h = h * np.float32(0.5) * (1 + _erf(h / np.float32(math.sqrt(2))))
        x = _layer_norm(x + _linear(h, w, at + "output.dense"), w, at + "output.LayerNorm", eps)
    return x


def sentence_vector(hidden: Array) -> Array:
    """Mean over the tokens, then length one: [T, d] → [d]."""
    mean: Array = hidden.mean(0)
    return mean / np.float32(max(float(np.linalg.norm(mean)), 1e-12))
