"""Compiles obvious/*.c, and runs it on CPython."""

from __future__ import annotations

import array
import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import wasmtime

from tools import kernels

from .peer import CACHE

SOURCES = Path(__file__).with_name("obvious")


def module(cache: Path = CACHE) -> Path:
    """The wasm file: by the compiler and with the flags of the engine's kernels."""
    digest = hashlib.sha256(Path(kernels.__file__).read_bytes())
    for source in sorted(SOURCES.glob("*.c")):
        digest.update(source.read_bytes())
    path = cache / f"obvious-{digest.hexdigest()[:16]}.wasm"
    if not path.exists():
        kernels.compile_kernel("int4", path, sources=SOURCES)
    return path


class Obvious:
    """One model in one instance, through wasmtime."""

    def __init__(self, wasm: Path, model: Path) -> None:
        content = model.read_bytes()
        self.dim: int = struct.unpack_from("<H", content, 12)[0]
        self._store = wasmtime.Store()
        engine = self._store.engine
        module = wasmtime.Module.from_file(engine, str(wasm))
        exports: Any = wasmtime.Instance(self._store, module, []).exports(self._store)
        self._exports = exports
        start = self._exports["reserve"](self._store, len(content))
        self._exports["memory"].write(self._store, content, start)
        if self._exports["load"](self._store, start) != 1:
            raise ValueError(f"obvious-simd cannot read {model}")
        output, most_tokens = struct.unpack_from("<HH", content, 18)
        self._input = self._exports["reserve"](self._store, 4 * most_tokens)
        self._bytes = 4 * output
        self._forward = self._exports["forward"]

    def embed(self, ids: Sequence[int]) -> array.array[float]:
        """ids → float32 [output]. Raises ValueError for ids that the model has not."""
        memory = self._exports["memory"]
        memory.write(self._store, array.array("I", ids).tobytes(), self._input)
        vector = self._forward(self._store, self._input, len(ids))
        if vector == 0:
            raise ValueError(f"obvious-simd refused {len(ids)} ids")
        return array.array("f", bytes(memory.read(self._store, vector, vector + self._bytes)))
