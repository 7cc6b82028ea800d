"""CPython host: the kernel runs in wasmtime."""

from __future__ import annotations

import atexit
import ctypes
from contextlib import suppress
from functools import lru_cache
from typing import Any
from weakref import WeakSet

from ..errors import KernelMissingError, WasmNoSimdError
from . import no_room

try:
    import wasmtime
except ModuleNotFoundError as _error:
    raise KernelMissingError(
        "the Python package wasmtime was not found, expected on CPython to run the kernel: "
        "install the wheel with its extra, as in pip install 'tern-engine-emb-int4[native]'"
    ) from _error

PAGE_BYTES = 65536


@lru_cache(maxsize=4)
def _compiled(wasm: bytes) -> tuple[Any, Any]:
    """Engine and machine code, kept: compiling takes longer than all else at load.

    Also kept on disk, in wasmtime's own cache (~/.cache/wasmtime on Linux), which knows a module by
    its bytes, wasmtime's version and the CPU, and compiles anew where a file there is damaged.
    """
    config = wasmtime.Config()
    with suppress(wasmtime.WasmtimeError):  # no folder to write to: compiled at each start
        config.cache = True
    engine = wasmtime.Engine(config)
    try:
        return engine, wasmtime.Module(engine, wasm)
    except wasmtime.WasmtimeError as error:
        raise WasmNoSimdError(
            f"wasmtime refused the kernel, expected a host with WebAssembly SIMD: {error}"
        ) from error


_open: WeakSet[WasmtimeKernel] = WeakSet()


@atexit.register
def _close_all() -> None:
    """At the interpreter's end, while wasmtime can still free what it made without complaint."""
    for kernel in list(_open):
        kernel.close()
    _compiled.cache_clear()


class WasmtimeKernel:
    """See kernels.Kernel."""

    host = "cpython-wasmtime"

    def __init__(self, wasm: bytes) -> None:
        engine, compiled = _compiled(wasm)
        self._store: Any = wasmtime.Store(engine)
        exports: Any = wasmtime.Instance(self._store, compiled, []).exports(self._store)
        self._exports = exports
        self._memory = exports["memory"]
        self.heap_base: int = exports["__heap_base"].value(self._store)
        self._functions: dict[str, Any] = {}
        self._windows: list[_Window] = []
        self._bytes = memoryview(b"")
        self._read_views()
        _open.add(self)

    def _read_views(self) -> None:
        size = self._memory.data_len(self._store)
        address = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        self._bytes = memoryview((ctypes.c_ubyte * size).from_address(address)).cast("B")
        for window in self._windows:
            window.view = self._bytes[window.offset : window.end]

    def reserve(self, nbytes: int) -> None:
        missing = nbytes - len(self._bytes)
        if missing > 0:
            try:
                self._memory.grow(self._store, -(-missing // PAGE_BYTES))
            except (wasmtime.WasmtimeError, OverflowError) as error:
                raise no_room(nbytes) from error
            self._read_views()

    def write(self, offset: int, data: Any) -> None:
        source = memoryview(data).cast("B")
        self._bytes[offset : offset + len(source)] = source

    def read(self, offset: int, nbytes: int) -> bytes:
        return bytes(self._bytes[offset : offset + nbytes])

    def window(self, offset: int, nbytes: int) -> _Window:
        window = _Window(offset, offset + nbytes)
        self._windows.append(window)
        window.view = self._bytes[window.offset : window.end]
        return window

    def call(self, name: str, *arguments: int) -> int:
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = self._exports[name]
        return function(self._store, *arguments) or 0

    def close(self) -> None:
        for window in self._windows:
            window.view = memoryview(b"")
        self._bytes = memoryview(b"")
        self._functions.clear()
        self._store = self._exports = self._memory = None


class _Window:
    """See kernels.Window."""

    def __init__(self, offset: int, end: int) -> None:
        self.offset = offset
        self.end = end
        self.view = memoryview(b"")

    def assign(self, data: Any) -> None:
        self.view[:] = memoryview(data).cast("B")

    def tobytes(self, nbytes: int) -> bytearray:
        return bytearray(self.view[:nbytes])
