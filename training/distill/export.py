"""A checkpoint as the tensors that training.pack reads.

    python -m training.distill.export CHECKPOINT OUT.safetensors [--table int4]

The table goes as codes with its trained row scales, so packing stores exactly what was trained.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from training.distill.checkpoint import load_checkpoint
from training.distill.config import from_values
from training.distill.optimiser import TABLE
from training.distill.student import Parameters, Shape, quantize_rows


def tensors(params: Parameters, shape: Shape) -> dict[str, Tensor]:
    """Named tensors: float32 weights, and the table as codes and scale (fp32: as it is)."""
    held = {name: value.float().contiguous() for name, value in params.items() if name != TABLE}
    table = params[TABLE].float().clone()
    table[0] = 0
    if shape.table == "fp32":
        return held | {TABLE: table}
    codes, scale = quantize_rows(table, shape.table, shape.table_clip)
    return held | {
        f"embedding.{shape.table}": codes.to(torch.int8).contiguous(),
        f"embedding.{shape.table}_scale": scale[:, 0].contiguous(),
    }


def export(state: dict[str, Any], path: Path) -> None:
    """Write a checkpoint's student as safetensors with n_heads and max_seq_len beside it."""
    shape = from_values(state["config"]).shape
    metadata = {"n_heads": str(shape.n_heads), "max_seq_len": str(shape.max_seq_len)}
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors(state["params"], shape), path, metadata=metadata)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkpoint", help="a path, or run:NAME")
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    export(load_checkpoint(given.checkpoint), given.out)


if __name__ == "__main__":
    main()
