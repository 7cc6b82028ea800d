"""Pyodide host: the kernel is a WebAssembly instance of its own beside the interpreter's."""

from __future__ import annotations

from typing import Any

import js
from pyodide.ffi import JsException, to_js

from ..errors import KernelError, WasmBlockedError, WasmNoSimdError
from . import no_room

PAGE_BYTES = 65536

# The smallest module with a SIMD instruction: () -> v128, i8x16.splat of 0.
SIMD_PROBE = bytes.fromhex("0061736d010000000105016000017b030201000a080106004100fd0f0b")


class PyodideKernel:
    """See kernels.Kernel. `memory` is the kernel's WebAssembly.Memory, for the JS shim."""

    host = "pyodide"

    def __init__(self, module: Any) -> None:
        self._exports: Any = js.WebAssembly.Instance.new(module, js.Object.new()).exports
        self.memory: Any = self._exports.memory
        # By name: written as an attribute, it would be mangled as private to this class.
        self.heap_base: int = getattr(self._exports, "__heap_base").value
        self._functions: dict[str, Any] = {}
        self._windows: list[_Window] = []
        self._bytes: Any = None
        self._read_views()

    def _read_views(self) -> None:
        # Growth detaches the old buffer, and with it every view.
        self._bytes = js.Uint8Array.new(self.memory.buffer)
        for window in self._windows:
            window.view = self._bytes.subarray(window.offset, window.end)

    def reserve(self, nbytes: int) -> None:
        missing = nbytes - self._bytes.length
        if missing > 0:
            try:
                self.memory.grow(-(-missing // PAGE_BYTES))
            except JsException as error:  # RangeError; TypeError beyond 2³² pages
                raise no_room(nbytes) from error
            self._read_views()

    def write(self, offset: int, data: Any) -> None:
        if hasattr(data, "js_id"):
            self._bytes.set(data, offset)
            return
        source = memoryview(data).cast("B")
        self._bytes.subarray(offset, offset + len(source)).assign(source)

    def read(self, offset: int, nbytes: int) -> bytes:
        data: bytes = self._bytes.subarray(offset, offset + nbytes).to_bytes()
        return data

    def window(self, offset: int, nbytes: int) -> _Window:
        window = _Window(offset, offset + nbytes)
        self._windows.append(window)
        window.view = self._bytes.subarray(window.offset, window.end)
        return window

    def call(self, name: str, *arguments: int) -> int:
        function = self._functions.get(name)
        if function is None:
            function = self._functions[name] = getattr(self._exports, name)
        return function(*arguments) or 0

    def close(self) -> None:
        for window in self._windows:
            window.view = None
        self._functions.clear()
        self._exports = self.memory = self._bytes = None


class _Window:
    """See kernels.Window."""

    def __init__(self, offset: int, end: int) -> None:
        self.offset = offset
        self.end = end
        self.view: Any = None

    def assign(self, data: Any) -> None:
        # Told by type: a view of a text's bytes costs half as much as copying them.
        self.view.assign(data if type(data) is bytes else memoryview(data).cast("B"))

    def tobytes(self, nbytes: int) -> bytearray:
        return bytearray(self.view.subarray(0, nbytes).to_bytes())


def compile_module(wasm: bytes) -> Any:
    """A WebAssembly.Module. Raises WasmNoSimdError or WasmBlockedError."""
    try:
        return js.WebAssembly.Module.new(to_js(wasm))
    except JsException as error:
        raise _compile_error(error) from error


def _compile_error(error: Any) -> KernelError:
    """What kept the module from being compiled, told by the error and by a probe."""
    text = str(error)
    if any(word in text for word in ("unsafe-eval", "Content Security Policy", "disallowed")):
        return WasmBlockedError(
            f"compiling WebAssembly was refused, expected script-src with 'wasm-unsafe-eval', or "
            f"a precompiled module: {text}"
        )
    if not js.WebAssembly.validate(to_js(SIMD_PROBE)):
        return WasmNoSimdError(
            "this engine's WebAssembly has no SIMD, expected fixed-width SIMD (Chrome 91, "
            "Firefox 89, Safari 16.4, Node 16.4 or newer)"
        )
    return WasmBlockedError(f"compiling the kernel failed, expected it to compile: {text}")
