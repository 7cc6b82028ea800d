"""A `.bin` as a student: to score it quickly, or to look inside with torch."""

from __future__ import annotations

from pathlib import Path

import torch
from tern_tools.models.unpack import UnpackedModel

from training.distill.student import Parameters, Shape


def read_model(path: Path) -> tuple[Parameters, Shape]:
    """Parameters whose forward pass is the file's; the table is float (code · scale).

    A ternary weight becomes code / scale: its median is then 1 / scale, so quantizing it again
    gives the same codes and scale. Raises ValueError where half of a matrix is zeros: this fails.
    """
    model = UnpackedModel.from_file(path)
    head = model.header
    params: Parameters = {"embedding.weight": torch.from_numpy(model.float_table().copy())}
    for name, values in model.tensors.items():
        if name.startswith("embedding") or name.endswith(".scale"):
            continue
        if name.endswith(".codes"):
            stem = name.removesuffix(".codes")
            codes = torch.from_numpy(values).float()
            if (codes != 0).float().mean() <= 0.5:
                raise ValueError(f"{stem}: half of the codes are zero")
            params[f"{stem}.weight"] = codes / float(model.tensors[f"{stem}.scale"])
        else:
            params[name] = torch.from_numpy(values.copy())
    shape = Shape(
        d_model=head.d_model,
        n_layers=head.n_layers,
        n_heads=head.n_heads,
        ffn_dim=head.ffn_dim,
        output_dim=head.output_dim,
        vocab_size=head.vocab_size,
        max_seq_len=head.max_seq_len,
        table="fp32",
    )
    return params, shape
