"""Compiles rows.c for this machine and calls it on torch tensors."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from training.distill.paths import cache_dir

SOURCE = Path(__file__).with_name("rows.c")
FLAGS = ["-O3", "-march=native", "-mprefer-vector-width=512", "-ffast-math", "-shared", "-fPIC"]


@cache
def library() -> ctypes.CDLL | None:
    """The compiled rows.c, built once per source and processor; None without a C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None or platform.machine() != "x86_64":
        return None
    model = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "flags" in line][:1]
    mark = hashlib.sha256(SOURCE.read_bytes() + repr((FLAGS, model)).encode()).hexdigest()[:16]
    target = cache_dir() / f"rows-{mark}.so"
    if not target.exists():
        part = target.with_suffix(f".{os.getpid()}.part")
        subprocess.run([compiler, *FLAGS, "-o", str(part), str(SOURCE), "-lm"], check=True)
        part.replace(target)
    return ctypes.CDLL(str(target))


def call(name: str, *arguments: Tensor | int | float | None) -> None:
    """Call tern_<name>: tensors go as pointers (contiguous, checked), numbers as int and float."""
    held = library()
    if held is None:
        raise RuntimeError("no C compiler for rows.c: use the reference step")
    passed: list[object] = []
    for value in arguments:
        if value is None:
            passed.append(ctypes.c_void_p(None))
        elif isinstance(value, torch.Tensor):
            if not value.is_contiguous():
                raise ValueError(f"tern_{name}: a tensor is not contiguous")
            passed.append(ctypes.c_void_p(value.data_ptr()))
        elif isinstance(value, int):
            passed.append(ctypes.c_int(value))
        else:
            passed.append(ctypes.c_float(value))
    getattr(held, f"tern_{name}")(*passed)
