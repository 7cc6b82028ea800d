"""A checkpoint as the tensors that training.pack reads.

    python -m training.distill.export CHECKPOINT OUT.safetensors [--table FORMAT] [--data DIR]

The table goes as codes with its trained row scales, so packing stores exactly what was trained.
The file's metadata holds the record of what was learned from, which packing puts into the sidecar;
with --data DIR the record also proves that no evaluation text was among it.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tern_engine.format import EMBEDDING_FORMATS
from torch import Tensor

from training.distill.checkpoint import load_checkpoint, parameters
from training.distill.config import from_values
from training.distill.optimiser import TABLE
from training.distill.paths import data_dir
from training.distill.record import record
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


def export(
    state: dict[str, Any],
    path: Path,
    training: dict[str, Any],
    table: str | None = None,
    mean: bool = False,
) -> None:
    """Write a checkpoint's student (or the mean it kept) as safetensors, its table in the trained
    format or `table`.

    n_heads, max_seq_len and the record `training` stand in the file's metadata.
    """
    shape = from_values(state["config"]).shape
    shape = replace(shape, table=table) if table else shape
    metadata = {
        "n_heads": str(shape.n_heads),
        "max_seq_len": str(shape.max_seq_len),
        "training": json.dumps(training),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    save_file(tensors(parameters(state, mean), shape), path, metadata=metadata)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkpoint", help="a path, or run:NAME")
    parser.add_argument("out", type=Path)
    parser.add_argument("--table", choices=EMBEDDING_FORMATS, help="instead of the trained format")
    parser.add_argument("--data", help="folder with corpus/ and eval/; or TERN_TRAINING_DATA")
    parser.add_argument("--mean", action="store_true", help="the mean of the weights, as kept")
    given = parser.parse_args()
    state = load_checkpoint(given.checkpoint)
    data = given.data or os.environ.get("TERN_TRAINING_DATA")
    training = record(state, data_dir(data, needs="eval") if data else None)
    if given.table and given.table != from_values(state["config"]).shape.table:
        training["table"] = f"quantized to {given.table} after training"
    if given.mean:
        training["weights"] = "running mean of the last run's"
    export(state, given.out, training, given.table, given.mean)


if __name__ == "__main__":
    main()
