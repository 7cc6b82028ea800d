"""The student: parameters, quantizers and the reference pass with straight-through gradients.

The arithmetic is the engine's: every BitLinear quantizes its input to int8 and its weight to three
values, and the table's rows are quantized as they are stored. This version is plain autograd and
runs on a CPU or CUDA; `fast.py` computes the same step by hand on a CPU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

EPS = 1e-5
ATTENTION = ("q", "k", "v", "out")


@dataclass(frozen=True)
class Shape:
    """Sizes of a student and how its table is stored."""

    d_model: int = 256
    n_layers: int = 2
    n_heads: int = 4
    ffn_dim: int = 1024
    output_dim: int = 384
    vocab_size: int = 30522
    max_seq_len: int = 128
    table: str = "int4"
    table_clip: float = 2.5


Parameters = dict[str, Tensor]


def matrix_names(shape: Shape) -> list[str]:
    """Names of the BitLinear weights, in file order."""
    names = []
    for i in range(shape.n_layers):
        names += [f"layers.{i}.attn.{part}.weight" for part in ATTENTION]
        names += [f"layers.{i}.ffn.up.weight", f"layers.{i}.ffn.down.weight"]
    return names


def new_layer(
    shape: Shape, layer: int, generator: torch.Generator, residual: float = 0.05
) -> Parameters:
    """Fresh weights of one layer; `residual` shrinks the two matrices that write to the stream.

    A BitLinear forgets the size of its weight's rounding but not its scale, so the layer starts as
    a small correction to what the layers before it give.
    """
    d, f = shape.d_model, shape.ffn_dim
    at = f"layers.{layer}."

    def uniform(rows: int, columns: int, gain: float = 1.0) -> Tensor:
        limit = gain * math.sqrt(6 / (rows + columns))
        return (torch.rand(rows, columns, generator=generator) * 2 - 1) * limit

    made = {f"{at}attn.{name}.weight": uniform(d, d) for name in ATTENTION[:3]}
    made[f"{at}attn.out.weight"] = uniform(d, d, residual)
    made[f"{at}attn.out.bias"] = torch.zeros(d)
    made[f"{at}ffn.up.weight"] = uniform(f, d)
    made[f"{at}ffn.up.bias"] = torch.zeros(f)
    made[f"{at}ffn.down.weight"] = uniform(d, f, residual)
    made[f"{at}ffn.down.bias"] = torch.zeros(d)
    for norm in ("ln_1", "ln_2"):
        made[f"{at}{norm}.weight"] = torch.ones(d)
        made[f"{at}{norm}.bias"] = torch.zeros(d)
    return made


def quantize_rows(rows: Tensor, table: str, clip: float) -> tuple[Tensor, Tensor]:
    """Codes (whole numbers as float) and scale [n, 1] of table rows, as the file stores them."""
    size = rows.abs()
    if table == "int4":
        scale = rows.square().mean(1, keepdim=True).sqrt() * (clip / 7)
        limit = 7.0
    elif table == "int8":
        scale = size.amax(1, keepdim=True) / 127
        limit = 127.0
    elif table == "ternary":
        kept = (size > 0.5 * size.mean(1, keepdim=True)).to(rows.dtype)
        scale = (size * kept).sum(1, keepdim=True) / kept.sum(1, keepdim=True).clamp(min=1)
        return rows.sign() * kept, scale
    elif table == "fp32":
        return rows, torch.ones_like(rows[:, :1])
    else:
        raise ValueError(f"unknown table format {table!r}")
    codes = (rows / scale.clamp(min=1e-12)).round().clamp(-limit, limit)
    return codes, scale


def table_values(rows: Tensor, shape: Shape) -> Tensor:
    """Rows as the engine reads them back: code · scale."""
    codes, scale = quantize_rows(rows, shape.table, shape.table_clip)
    return codes * scale


def weight_codes(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Ternary codes (as float) and scale s = 1/max(median |W|, 1e-5) of a BitLinear weight."""
    scale = 1.0 / weight.abs().median().clamp(min=EPS)
    return (weight * scale).round().clamp(-1, 1), scale


class _Straight(torch.autograd.Function):
    """Forward: the replacement; backward: as though the value had been kept."""

    @staticmethod
    def forward(ctx: object, value: Tensor, replacement: Tensor) -> Tensor:
        return replacement

    @staticmethod
    def backward(ctx: object, *grads: Tensor) -> tuple[Tensor, None]:
        return grads[0], None


def straight(value: Tensor, replacement: Tensor) -> Tensor:
    """`replacement`, with the gradient of `value`."""
    result: Tensor = _Straight.apply(value, replacement)  # type: ignore[no-untyped-call]
    return result


def bit_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """y = (q Wᵀ + b) / (s_w s_x) of the contract; scales are constants to the gradient."""
    n = functional.layer_norm(x, x.shape[-1:], eps=EPS)
    with torch.no_grad():
        scale = 128.0 / n.abs().amax(-1, keepdim=True).clamp(min=EPS)
        rounded = (n * scale).round().clamp(-128, 127)
        codes, weight_scale = weight_codes(weight)
    product = functional.linear(
        straight(n * scale, rounded), straight(weight * weight_scale, codes), bias
    )
    return product / (weight_scale * scale)


def _attend(q: Tensor, k: Tensor, v: Tensor, lengths: Tensor, heads: int) -> Tensor:
    """Attention within each text of packed rows [m, d]; padding exists only inside this step."""
    texts, longest = len(lengths), int(lengths.max())
    mask = torch.arange(longest, device=q.device)[None] < lengths[:, None]

    def unpacked(rows: Tensor) -> Tensor:
        wide = rows.new_zeros(texts, longest, rows.shape[1]).masked_scatter(mask[..., None], rows)
        return wide.view(texts, longest, heads, -1).transpose(1, 2)

    mixed = functional.scaled_dot_product_attention(
        unpacked(q), unpacked(k), unpacked(v), attn_mask=mask[:, None, None]
    )
    return mixed.transpose(1, 2).reshape(texts, longest, -1)[mask]


def forward(params: Parameters, shape: Shape, x: Tensor, lengths: Tensor) -> Tensor:
    """Packed table values x [m, d] of texts with `lengths` tokens → unit vectors [texts, out]."""
    for i in range(shape.n_layers):
        p = {k.split(".", 2)[2]: v for k, v in params.items() if k.startswith(f"layers.{i}.")}
        n = functional.layer_norm(x, x.shape[-1:], p["ln_1.weight"], p["ln_1.bias"], EPS)
        q, k, v = (bit_linear(n, p[f"attn.{name}.weight"], None) for name in ("q", "k", "v"))
        a = _attend(q, k, v, lengths, shape.n_heads)
        x = x + bit_linear(a, p["attn.out.weight"], p["attn.out.bias"])
        n = functional.layer_norm(x, x.shape[-1:], p["ln_2.weight"], p["ln_2.bias"], EPS)
        wide = functional.gelu(bit_linear(n, p["ffn.up.weight"], p["ffn.up.bias"]))
        x = x + bit_linear(wide, p["ffn.down.weight"], p["ffn.down.bias"])
    norm = (params["ln_final.weight"], params["ln_final.bias"])
    y = functional.layer_norm(x, x.shape[-1:], *norm, EPS)
    owner = torch.repeat_interleave(torch.arange(len(lengths), device=x.device), lengths)
    pooled = y.new_zeros(len(lengths), y.shape[1]).index_add(0, owner, y) / lengths[:, None]
    out = functional.linear(pooled, params["out.weight"], params["out.bias"])
    return functional.normalize(out, dim=-1, eps=1e-12)
