"""Runs single instructions of the kernel program on arrays, for tests."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.kernels import _ops
from tern_engine.kernels._wasmtime import WasmtimeKernel
from tern_engine.model import BLOCK_COLUMNS, Layout, index_bytes, round_up

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]


class Bench:
    """A kernel with arrays laid out in its memory."""

    def __init__(self, wasm: bytes) -> None:
        self.kernel = WasmtimeKernel(wasm)
        self.layout = Layout(self.kernel.heap_base)

    def put(self, values: NDArray[Any]) -> int:
        """Offset of a copy of the array."""
        offset = self.space(values.nbytes)
        self.kernel.write(offset, np.ascontiguousarray(values).tobytes())
        return offset

    def space(self, nbytes: int) -> int:
        """Offset of `nbytes` that hold 0xff, so that a read of unwritten memory shows."""
        offset = self.layout.place(max(nbytes, 16))
        self.kernel.reserve(self.layout.end)
        self.kernel.write(offset, b"\xff" * nbytes)
        return offset

    def floats(self, offset: int, *shape: int) -> F32:
        """A copy of f32 memory."""
        data = self.kernel.read(offset, 4 * int(np.prod(shape)))
        return np.frombuffer(data, np.float32).reshape(shape)

    def run(self, instructions: list[list[int]], lengths: list[int], rows: int = 0) -> None:
        """Check the instructions as the engine does, then run them on texts of these lengths."""
        words = array("I", [word for line in instructions for word in line])
        program = self.layout.place(4 * len(words))
        table = self.layout.place(4 * len(lengths))
        self.kernel.reserve(self.layout.end)
        self.kernel.write(program, words)
        self.kernel.write(table, array("I", lengths))
        rows = rows or sum(lengths)
        bad = self.kernel.call(
            "check_program", program, len(instructions), rows, len(lengths), max(lengths)
        )
        assert bad == -1, f"instruction {bad} was refused: {instructions[bad]}"
        self.kernel.call("run", program, len(instructions), len(lengths), table)


class BitLinear:
    """A random BitLinear laid out as the engine does."""

    def __init__(
        self, bench: Bench, weights: NDArray[np.int8], scale: float, bias: F32, chunk: int = 32
    ) -> None:
        self.outputs, self.columns = weights.shape
        self.padded = round_up(self.columns, BLOCK_COLUMNS)
        codes = np.where(weights < 0, 2, weights).astype(np.uint8).reshape(self.outputs, -1, 4)
        packed = (codes << np.array([0, 2, 4, 6], np.uint8)).sum(axis=2).astype(np.uint8)
        self.weights = bench.space(round_up(self.outputs, 32) * self.padded)
        kernel = bench.kernel
        kernel.call("fill_zero", self.weights, round_up(self.outputs, 32) * self.padded)
        matrix = (bench.put(packed), self.outputs, self.columns)
        place = (0, self.outputs, self.outputs)
        kernel.call("pack_panels", *matrix, self.weights, self.padded, *place)
        self.indexes = bench.space(index_bytes(self.outputs, self.padded))
        kernel.call(
            "pack_indexes",
            *(matrix[0], 0, self.outputs, self.outputs, self.outputs, self.columns),
            *(self.indexes, self.outputs, self.padded),
        )
        self.narrow = bench.space(32 * self.outputs)
        self.wide = bench.space(64 * self.outputs)
        self.inverse_weight = bench.space(4 * self.outputs)
        scale_offset = bench.put(np.float32([scale]))
        kernel.call("fill_inverse", self.inverse_weight, self.outputs, scale_offset)
        self.bias = bench.put(bias)
        self.codes = bench.space(2 * chunk * self.padded)
        self.inverse_scale = bench.space(4 * chunk)
        self.bounds = bench.space(8 * chunk)
        self.chunk = chunk

    def instructions(
        self, source: int, target: int, mode: int, norm: tuple[int, int, int] = (0, 0, 0)
    ) -> list[list[int]]:
        """rows { quantize; product } from source [rows][columns] to target [rows][outputs].

        norm: offsets of gamma, beta and a scratch row, for the layer norm before.
        """
        return [
            _ops.rows(count=2, chunk=self.chunk),
            _ops.quantize(
                source=source,
                stride=self.columns,
                source_local=0,
                rows=0,
                gamma=norm[0],
                beta=norm[1],
                row=norm[2],
                codes=self.codes,
                inverse_scale=self.inverse_scale,
                bounds=self.bounds,
                columns=self.columns,
                padded=self.padded,
            ),
            _ops.product(
                codes=self.codes,
                inverse_scale=self.inverse_scale,
                bounds=self.bounds,
                weights=self.weights,
                indexes=self.indexes,
                narrow=self.narrow,
                wide=self.wide,
                inverse_weight=self.inverse_weight,
                bias=self.bias,
                target=target,
                stride=self.outputs,
                target_local=0,
                columns=self.padded,
                outputs=self.outputs,
                mode=mode,
            ),
        ]


def norm(x: NDArray[np.floating]) -> F64:
    """Layer norm without parameters."""
    x = x.astype(np.float64)
    center = x - x.mean(axis=-1, keepdims=True)
    return center / np.sqrt((center**2).mean(axis=-1, keepdims=True) + 1e-5)


def exact_gelu(x: F64) -> F64:
    return np.vectorize(lambda v: 0.5 * v * math.erfc(-v * math.sqrt(0.5)))(x)


def quantized(x: NDArray[np.floating]) -> tuple[NDArray[np.int64], F64]:
    n = norm(x)
    scale = 128 / np.maximum(np.abs(n).max(axis=-1, keepdims=True), 1e-5)
    return np.clip(np.rint(n * scale), -128, 127).astype(np.int64), scale


def ternary(rng: np.random.Generator, outputs: int, columns: int) -> NDArray[np.int8]:
    return rng.integers(-1, 2, (outputs, columns)).astype(np.int8)


def read_codes(bench: Bench, linear: BitLinear, rows: int) -> NDArray[np.int16]:
    """The quantized rows [rows][columns] out of their tiles."""
    tiles = -(-rows // 4)
    flat = np.frombuffer(bench.kernel.read(linear.codes, 8 * tiles * linear.padded), np.int16)
    pairs = flat.reshape(tiles, linear.padded // 2, 4, 2)
    return pairs.transpose(0, 2, 1, 3).reshape(4 * tiles, linear.padded)[:rows]
