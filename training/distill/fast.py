"""One training step by hand on a CPU, about three times the texts a second of plain autograd.

The forward pass is the contract's: its int8 products are exact integers. Backward, gradients going
to a layer's input are rounded to int8 a row, those of the weights to bfloat16: the directions agree
with the reference step's to three digits and more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from training.distill.data import Batch
from training.distill.rows import call
from training.distill.student import Parameters, Shape

ROUND_ROWS = 64  # token counts are padded to a multiple: oneDNN keeps a kernel per shape


@dataclass
class Weights:
    """Quantized matrices of one layer: int8 codes [out, in], scales, 1/scale of q, k and v."""

    codes: dict[str, Tensor] = field(default_factory=dict)
    scale: dict[str, float] = field(default_factory=dict)
    over: Tensor = field(default_factory=lambda: torch.empty(0))


def prepare(params: Parameters, shape: Shape) -> list[Weights]:
    """Quantize every BitLinear weight once a step."""
    layers = []
    counts = torch.empty(65536, dtype=torch.int32)
    for i in range(shape.n_layers):
        w = Weights()
        for name in ("attn.q", "attn.k", "attn.v", "attn.out", "ffn.up", "ffn.down"):
            weight = params[f"layers.{i}.{name}.weight"]
            codes, scale = torch.empty(weight.shape, dtype=torch.int8), torch.empty(1)
            call("ternary", weight, weight.numel(), counts, codes, scale)
            w.codes[name], w.scale[name] = codes, float(scale)
        parts = ("attn.q", "attn.k", "attn.v")
        w.over = torch.tensor([1 / w.scale[name] for name in parts])
        w.codes["qkv"] = torch.cat([w.codes[name] for name in parts])
        layers.append(w)
    return layers


@dataclass
class _Kept:
    """What the backward pass of a layer needs of its forward pass."""

    x: Tensor
    q1: Tensor
    s1: Tensor
    acc1: Tensor
    a: Tensor
    q2: Tensor
    s2: Tensor
    mid: Tensor
    q3: Tensor
    s3: Tensor
    acc3: Tensor
    q4: Tensor
    s4: Tensor


class Step:
    """Forward and backward of one micro-batch. One object a thread: it owns its scratch memory."""

    def __init__(self, shape: Shape, relation: float = 0.0, settled: bool = False) -> None:
        """settled: the three-valued weights stay, and get no gradient."""
        self.shape, self.relation, self.settled = shape, relation, settled
        longest = shape.max_seq_len
        self.scratch = torch.empty(6 * longest * (shape.d_model // shape.n_heads))

    def _quant(
        self, x: Tensor, weight: Tensor | None, bias: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        m, d = x.shape
        q = torch.empty(m, d, dtype=torch.int8)
        q16 = torch.empty(m, d, dtype=torch.bfloat16)
        scale = torch.empty(m)
        call("norm_quant", x, weight, bias, m, d, q, q16, scale)
        return q, q16, scale

    def _layer(
        self, p: Parameters, at: str, w: Weights, x: Tensor, starts: Tensor
    ) -> tuple[Tensor, _Kept]:
        m, d = x.shape
        f, texts = self.shape.ffn_dim, len(starts) - 1
        q, q1, s1 = self._quant(x, p[f"{at}ln_1.weight"], p[f"{at}ln_1.bias"])
        acc1 = torch._int_mm(q, w.codes["qkv"].t())
        a = torch.zeros(m, d)
        call(
            "attention",
            acc1,
            s1,
            w.over,
            starts,
            texts,
            self.shape.max_seq_len,
            self.shape.n_heads,
            d,
            self.scratch,
            a,
        )
        q, q2, s2 = self._quant(a, None, None)
        acc2 = torch._int_mm(q, w.codes["attn.out"].t())
        mid = torch.empty_like(x)
        call("residual", x, acc2, p[f"{at}attn.out.bias"], s2, w.scale["attn.out"], m, d, mid)
        q, q3, s3 = self._quant(mid, p[f"{at}ln_2.weight"], p[f"{at}ln_2.bias"])
        acc3 = torch._int_mm(q, w.codes["ffn.up"].t())
        q = torch.empty(m, f, dtype=torch.int8)
        q4 = torch.empty(m, f, dtype=torch.bfloat16)
        s4 = torch.empty(m)
        call("gelu_quant", acc3, p[f"{at}ffn.up.bias"], s3, w.scale["ffn.up"], m, f, q, q4, s4)
        acc4 = torch._int_mm(q, w.codes["ffn.down"].t())
        out = torch.empty_like(x)
        call("residual", mid, acc4, p[f"{at}ffn.down.bias"], s4, w.scale["ffn.down"], m, d, out)
        return out, _Kept(x, q1, s1, acc1, a, q2, s2, mid, q3, s3, acc3, q4, s4)

    def _layer_back(
        self,
        p: Parameters,
        g: Parameters,
        at: str,
        w: Weights,
        k: _Kept,
        dx: Tensor,
        starts: Tensor,
    ) -> None:
        """dx, the gradient of the layer's output, becomes that of its input; g grows."""
        m, d = dx.shape
        f, texts = self.shape.ffn_dim, len(starts) - 1

        def grow(names: tuple[str, ...], left: Tensor, right: Tensor) -> None:
            if not self.settled:
                parts = torch.mm(left.t(), right).chunk(len(names))
                for name, part in zip(names, parts, strict=True):
                    g[f"{at}{name}.weight"].add_(part)

        def narrow(width: int) -> tuple[Tensor, Tensor, Tensor]:
            return (
                torch.zeros(m, width, dtype=torch.bfloat16),
                torch.zeros(m, width, dtype=torch.int8),
                torch.zeros(m),
            )

        over = {name: 1 / scale for name, scale in w.scale.items()}
        g16, g8, gs = narrow(d)
        bias = g[f"{at}ffn.down.bias"]
        call("scale_grad", dx, k.s4, w.scale["ffn.down"], m, d, g16, bias, g8, gs)
        grow(("ffn.down",), g16, k.q4)
        dz = torch._int_mm(g8, w.codes["ffn.down"])
        wide, wide8, wides = narrow(f)
        call(
            "gelu_back",
            k.acc3,
            p[f"{at}ffn.up.bias"],
            k.s3,
            w.scale["ffn.up"],
            dz,
            gs,
            k.s4,
            over["ffn.down"],
            m,
            f,
            wide,
            g[f"{at}ffn.up.bias"],
            wide8,
            wides,
        )
        grow(("ffn.up",), wide, k.q3)
        dz = torch._int_mm(wide8, w.codes["ffn.up"])
        norm = [g[f"{at}ln_2.weight"], g[f"{at}ln_2.bias"]]
        weight, bias = p[f"{at}ln_2.weight"], p[f"{at}ln_2.bias"]
        call("block_back", k.mid, weight, bias, dz, wides, k.s3, over["ffn.up"], m, d, dx, *norm)
        bias = g[f"{at}attn.out.bias"]
        call("scale_grad", dx, k.s2, w.scale["attn.out"], m, d, g16, bias, g8, gs)
        grow(("attn.out",), g16, k.q2)
        dz = torch._int_mm(g8, w.codes["attn.out"])
        da = torch.empty(m, d)
        call("norm_back", k.a, dz, gs, k.s2, over["attn.out"], m, d, da)
        three, three8, threes = narrow(3 * d)
        call(
            "attention_back",
            k.acc1,
            k.s1,
            w.over,
            starts,
            texts,
            self.shape.max_seq_len,
            self.shape.n_heads,
            d,
            da,
            self.scratch,
            three,
            three8,
            threes,
        )
        grow(("attn.q", "attn.k", "attn.v"), three, k.q1)
        dz = torch._int_mm(three8, w.codes["qkv"])
        norm = [g[f"{at}ln_1.weight"], g[f"{at}ln_1.bias"]]
        weight, bias = p[f"{at}ln_1.weight"], p[f"{at}ln_1.bias"]
        call("block_back", k.x, weight, bias, dz, threes, k.s1, 1.0, m, d, dx, *norm)

    def pooled(
        self, p: Parameters, weights: list[Weights], x: Tensor, starts: Tensor
    ) -> tuple[Tensor, Tensor, list[_Kept]]:
        """Table values x [m, d] → mean vectors [texts, d], the last x, and the layers' keepings."""
        kept = []
        for i, w in enumerate(weights):
            x, held = self._layer(p, f"layers.{i}.", w, x, starts)
            kept.append(held)
        mean = torch.empty(len(starts) - 1, x.shape[1])
        call(
            "pool", x, p["ln_final.weight"], p["ln_final.bias"], starts, len(mean), x.shape[1], mean
        )
        return mean, x, kept

    def run(
        self,
        p: Parameters,
        g: Parameters,
        weights: list[Weights],
        values: Tensor,
        slots: Tensor,
        starts: Tensor,
        targets: Tensor,
        share: float,
        rows: Tensor,
    ) -> float:
        """Loss (sum of 1 − cos) of one micro-batch; g and rows, the table rows' gradient, grow.

        values [n + 1, d]: quantized rows of the batch, the last one zero for padding; slots [m]:
        each token's row; share: 1 / texts of the whole batch; rows [n + 1, d]. The relational
        loss, whose gradient is added, is that of the micro-batch's own pairs.
        """
        mean, x, kept = self.pooled(p, weights, values.index_select(0, slots), starts)
        raw = torch.addmm(p["out.bias"], mean, p["out.weight"].t())
        size = raw.norm(dim=1, keepdim=True).clamp(min=1e-12)
        unit = raw / size
        cosine = (unit * targets).sum(1, keepdim=True)
        dunit = targets * -share
        if self.relation and len(unit) > 1:
            gap = unit @ unit.t() - targets @ targets.t()
            gap.fill_diagonal_(0)
            dunit.addmm_(gap, unit, alpha=4 * self.relation * share / (len(unit) - 1))
        draw = (dunit - unit * (unit * dunit).sum(1, keepdim=True)) / size
        g["out.weight"].add_(draw.t() @ mean)
        g["out.bias"].add_(draw.sum(0))
        dx = torch.zeros_like(x)
        call(
            "pool_back",
            x,
            p["ln_final.weight"],
            starts,
            len(mean),
            x.shape[1],
            draw @ p["out.weight"],
            dx,
            g["ln_final.weight"],
            g["ln_final.bias"],
        )
        for i in range(len(weights) - 1, -1, -1):
            self._layer_back(p, g, f"layers.{i}.", weights[i], kept[i], dx, starts)
        call("gather_rows", dx, slots, len(slots), dx.shape[1], rows)
        return float((1 - cosine).sum())


def pack(ids: Tensor, lengths: Tensor, padding: int) -> tuple[Tensor, Tensor]:
    """Slots padded to a multiple of ROUND_ROWS with `padding`, and starts [texts + 1] int32."""
    short = -len(ids) % ROUND_ROWS
    slots = torch.nn.functional.pad(ids, (0, short), value=padding)
    starts = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).to(torch.int32)
    return slots, starts


def split(batch: Batch, most_tokens: int) -> list[tuple[int, int]]:
    """Text ranges of about equal token counts, none much above most_tokens."""
    ends = np.cumsum(batch.lengths)
    parts = max(1, -(-int(ends[-1]) // most_tokens))
    cuts = [int(np.searchsorted(ends, ends[-1] * k / parts)) for k in range(1, parts)]
    edges = sorted({0, *cuts, len(ends)})
    return list(pairwise(edges))
