"""Checkpoints: everything a run needs to go on, written atomically."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import torch

from training.distill.paths import cache_dir, write_atomically


def run_folder(name: str) -> Path:
    """Folder of a run in the cache."""
    return cache_dir() / "runs" / name


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Write `state` (tensors and plain values)."""
    held = io.BytesIO()
    torch.save(state, held)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, held.getvalue())


def load_checkpoint(where: str | Path) -> dict[str, Any]:
    """Read a checkpoint: a path, or "run:NAME" for the latest one of a run."""
    text = str(where)
    path = run_folder(text[4:]) / "checkpoint.pt" if text.startswith("run:") else Path(text)
    if not path.exists():
        raise SystemExit(f"no checkpoint at {path}")
    state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def parameters(state: dict[str, Any], mean: bool = False) -> dict[str, torch.Tensor]:
    """A checkpoint's weights, or the running mean of them that it carries."""
    if not mean:
        return dict(state["params"])
    if "average" not in state:
        raise SystemExit(f"{state['config']['name']} kept no mean of its weights (average_texts)")
    return dict(state["average"]["params"])
