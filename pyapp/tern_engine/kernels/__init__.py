"""The compiled kernel behind one small interface; a host differs only in how it runs wasm."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from .._data import read_data
from ..errors import KernelMemoryError, KernelMissingError, KernelSelfTestError

# What self_test() of self_test.c answers on a host whose arithmetic is right.
# tests/kernels/test_kernels.py checks the computation behind it against numpy.
SELF_TEST_ANSWER = 0x4D79A9F4


class Window(Protocol):
    """A fixed range of kernel memory, valid across memory growth."""

    def assign(self, data: Any) -> None:
        """Copy a buffer of exactly the window's size into kernel memory."""

    def tobytes(self, nbytes: int) -> bytearray:
        """A copy of the first `nbytes` bytes."""


class Kernel(Protocol):
    """One instance of kernels.wasm with its own memory. Offsets and sizes are in bytes."""

    host: str
    heap_base: int

    def reserve(self, nbytes: int) -> None:
        """Grow the memory to at least `nbytes`; every view is read anew.

        Raises KernelMemoryError where the host refuses it.
        """

    def write(self, offset: int, data: Any) -> None:
        """Copy a buffer of the host (bytes-like; on Pyodide also a JS typed array) in."""

    def read(self, offset: int, nbytes: int) -> bytes:
        """A copy of a range."""

    def window(self, offset: int, nbytes: int) -> Window:
        """A range that is written or read often."""

    def call(self, name: str, *arguments: int) -> int:
        """Call an export; one without result returns 0."""

    def close(self) -> None:
        """Drop the instance and its memory; any later call is an error of the host."""


def no_room(nbytes: int) -> KernelMemoryError:
    """The error of a host that refuses a kernel so much memory."""
    return KernelMemoryError(
        f"this host refuses the kernel {nbytes:,} bytes of memory, expected all that a model needs"
    )


def open_kernel(module: Any = None) -> Kernel:
    """A fresh, self-tested kernel.

    module: a precompiled WebAssembly.Module (Pyodide only), or None for data/kernels.wasm.
    Raises KernelMissingError, WasmNoSimdError, WasmBlockedError or KernelSelfTestError.
    """
    kernel: Kernel
    if sys.platform == "emscripten":
        from ._pyodide import PyodideKernel, compile_module

        kernel = PyodideKernel(compile_module(_baked()) if module is None else module)
    else:
        from ._wasmtime import WasmtimeKernel

        kernel = WasmtimeKernel(_baked())
    self_test(kernel)
    return kernel


def self_test(kernel: Kernel) -> None:
    """Raise KernelSelfTestError unless a small fixed computation has its known answer."""
    found = kernel.call("self_test") & 0xFFFFFFFF
    if found != SELF_TEST_ANSWER:
        raise KernelSelfTestError(
            field="the kernel's self-test",
            found=f"{found:#010x}",
            expected=f"{SELF_TEST_ANSWER:#010x}: this host's WebAssembly SIMD computes wrongly",
        )


def _baked() -> bytes:
    try:
        return read_data("kernels.wasm")
    except OSError as error:
        raise KernelMissingError(
            "data/kernels.wasm is missing from the package, expected the compiled kernel: "
            "install a tern-engine-emb-* wheel, or run python3 build.py all in a checkout"
        ) from error
