"""Quantizing and ternary products, SIMD and scalar twin, against numpy."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from tern_engine.kernels import _ops

from tests.support.kernel_bench import (
    Bench,
    BitLinear,
    exact_gelu,
    norm,
    quantized,
    read_codes,
    ternary,
)

MODES = {"store": _ops.MODE_STORE, "add": _ops.MODE_ADD, "gelu": _ops.MODE_GELU}


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 7, 8, 31])
@pytest.mark.parametrize("columns", [4, 12, 64, 100, 256])
def test_quantize(bench: Bench, rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * 1000 + columns)
    x = rng.normal(0.3, 2, (rows, columns)).astype(np.float32)
    linear = BitLinear(bench, ternary(rng, 4, columns), 1.0, np.zeros(4, np.float32))
    target = bench.space(4 * rows * 4)
    bench.run(linear.instructions(bench.put(x), target, _ops.MODE_STORE), [rows])
    codes, scale = quantized(x)
    found = read_codes(bench, linear, rows)
    assert not found[:, columns:].any()
    # Where the exact value lies half way, float32 may round either way.
    away = np.abs(found[:, :columns] - codes)
    halves = np.abs(np.abs(norm(x) * scale % 1) - 0.5) < 1e-3
    assert not away[~halves].any()
    assert away.max() <= 1
    inverse = bench.floats(linear.inverse_scale, rows)
    np.testing.assert_allclose(inverse, 1 / scale[:, 0], rtol=1e-5)


def test_quantize_with_layer_norm(bench: Bench) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(-1, 3, (6, 32)).astype(np.float32)
    gamma, beta = rng.normal(1, 0.5, (2, 32)).astype(np.float32)
    linear = BitLinear(bench, ternary(rng, 4, 32), 1.0, np.zeros(4, np.float32))
    parameters = (bench.put(gamma), bench.put(beta), bench.space(4 * 128))
    lines = linear.instructions(bench.put(x), bench.space(96), _ops.MODE_STORE, parameters)
    bench.run(lines, [6])
    codes, _ = quantized(norm(x) * gamma + beta)
    found = read_codes(bench, linear, 6)[:, :32]
    assert np.abs(found - codes).max() <= 1
    assert (found == codes).mean() > 0.99


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("rows", "columns", "outputs"),
    [
        (1, 4, 4),
        (2, 32, 16),
        (3, 64, 20),
        (5, 100, 48),
        (7, 256, 36),
        (35, 256, 96),
        (12, 64, 512),
        (16, 96, 516),
        (4, 1024, 256),
    ],
)
def test_product(bench: Bench, mode: str, rows: int, columns: int, outputs: int) -> None:
    rng = np.random.default_rng(rows)
    weights = ternary(rng, outputs, columns)
    bias = rng.normal(0, 30, outputs).astype(np.float32)
    linear = BitLinear(bench, weights, 17.5, bias)
    x = rng.normal(0, 1, (rows, columns)).astype(np.float32)
    before = rng.normal(0, 1, (rows, outputs)).astype(np.float32)
    target = bench.put(before)
    # Chunks of 32 rows: what is read back below holds only for one chunk.
    bench.run(linear.instructions(bench.put(x), target, MODES[mode]), [rows])
    codes, scale = quantized(x)
    if rows <= 32:
        codes = read_codes(bench, linear, rows)[:, :columns].astype(np.int64)
    exact = (codes @ weights.T.astype(np.int64) + bias.astype(np.float64)) / (17.5 * scale)
    expected = {"store": exact, "add": exact + before, "gelu": exact_gelu(exact)}[mode]
    found = bench.floats(target, rows, outputs)
    tolerance = 2e-6 if rows <= 32 else 2e-2
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=tolerance * np.abs(exact).max())


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("columns", [64, 128, 256, 1024])
@pytest.mark.parametrize("rows", [5, 8, 16])
def test_product_is_exact_at_the_corner(bench: Bench, sign: int, columns: int, rows: int) -> None:
    """Rows of -128 and 127 throughout, against weights that add them all up the same way.

    With a fixed 64 columns a lower sum of 64 * 128 = 2^13 would spill into the upper output, and
    a sum over 1024 columns leaves the int16 of the tables.
    """
    x = np.ones((rows, columns), np.float32)
    x[:, ::2] = -1
    weights = np.zeros((32, columns), np.int8)
    weights[:, ::2] = sign
    weights[:, 1::2] = -sign
    weights[7] = 0
    weights[9, ::2] = 0
    linear = BitLinear(bench, weights, 1.0, np.zeros(32, np.float32))
    target = bench.space(4 * rows * 32)
    bench.run(linear.instructions(bench.put(x), target, _ops.MODE_STORE), [rows])
    codes = read_codes(bench, linear, rows)[:, :columns].astype(np.int64)
    assert set(np.unique(codes)) == {-128, 127}
    bounds = np.frombuffer(bench.kernel.read(linear.bounds, 8 * rows), np.uint32).reshape(-1, 2)
    assert (bounds[:, 0] == (128 if columns == 64 else 32)).all()
    assert (bounds[:, 1] == (columns if columns <= 256 else 128)).all()
    inverse = bench.floats(linear.inverse_scale, rows)[:, None]
    expected = (codes @ weights.T.astype(np.int64)).astype(np.float32) * inverse
    np.testing.assert_array_equal(bench.floats(target, rows, 32), expected)


@pytest.mark.parametrize("rows", [8, 12, 16])
@pytest.mark.parametrize("columns", [60, 192])
def test_product_of_outputs_that_subtract_more_or_less(
    bench: Bench, rows: int, columns: int
) -> None:
    """Of the 16 groups of four columns that sums.h tabulates at a time, each number is negated."""
    rng = np.random.default_rng(columns + rows)
    groups = columns // 4
    weights = ternary(rng, 4 * (groups + 1), columns).reshape(-1, groups, 4)
    # The last weight of a group decides. Output n of each 4: its first n groups are negative.
    negative = np.arange(groups) < np.arange(len(weights))[:, None] // 4
    weights[:, :, 3] = np.where(negative, -1, 1)
    weights = rng.permuted(weights, axis=1)[rng.permutation(len(weights))].reshape(-1, columns)
    linear = BitLinear(bench, weights, 1.0, np.zeros(len(weights), np.float32))
    target = bench.space(4 * rows * len(weights))
    x = rng.normal(0, 1, (rows, columns)).astype(np.float32)
    bench.run(linear.instructions(bench.put(x), target, _ops.MODE_STORE), [rows])
    codes = read_codes(bench, linear, rows)[:, :columns].astype(np.int64)
    inverse = bench.floats(linear.inverse_scale, rows)[:, None]
    expected = (codes @ weights.T.astype(np.int64)).astype(np.float32) * inverse
    np.testing.assert_array_equal(bench.floats(target, rows, len(weights)), expected)


def test_recall_and_remember(bench: Bench) -> None:
    """Only rows whose ids are not remembered are computed; every row ends up in its place."""
    rng = np.random.default_rng(3)
    table = rng.normal(0, 1, (14, 12)).astype(np.float32)
    linear = BitLinear(bench, ternary(rng, 8, 12), 2.0, np.ones(8, np.float32))
    ids_at, source, plain = bench.space(4 * 6), bench.space(4 * 6 * 12), bench.space(4 * 6 * 8)
    keys, values = bench.put(np.zeros(8, np.uint32)), bench.space(4 * 8 * 8)
    target, fresh, missing = bench.space(4 * 6 * 8), bench.space(4 * 32 * 8), bench.space(4 * 32)
    memory = {
        "ids": ids_at, "keys": keys, "values": values, "slots": 8,
        "target": target, "width": 8, "missing": missing,
    }  # fmt: skip
    _, quantize, product = linear.instructions(source, fresh, _ops.MODE_STORE)
    words = list(inspect.signature(_ops.quantize).parameters)
    quantize[1 + words.index("rows")] = missing
    product[1 + list(inspect.signature(_ops.product).parameters).index("target_local")] = 1
    program = [
        _ops.rows(count=4, chunk=32),
        _ops.recall(**memory),
        quantize,
        product,
        _ops.remember(**memory, source=fresh),
    ]

    def missed(*ids: int) -> list[int]:
        """The rows that were computed, of tokens of these ids."""
        bench.kernel.write(ids_at, np.array(ids, np.uint32).tobytes())
        bench.kernel.write(source, table[list(ids)].tobytes())
        bench.kernel.write(target, bytes(4 * 6 * 8))
        bench.kernel.write(missing, b"\xff" * 4 * 32)
        bench.run(linear.instructions(source, plain, _ops.MODE_STORE), [len(ids)])
        bench.run(program, [len(ids)])
        expected = bench.floats(plain, len(ids), 8)
        np.testing.assert_array_equal(bench.floats(target, len(ids), 8), expected)
        listed = np.frombuffer(bench.kernel.read(missing, 4 * len(ids)), np.uint32)
        return [int(row) for row in listed if row != 0xFFFFFFFF]

    # 8 slots: 5, 9, 13 and 1 share two of them.
    assert missed(5, 6, 5, 9, 7, 0) == [0, 1, 2, 3, 4, 5]
    assert missed(0, 9, 5, 7, 6) == []
    assert missed(13, 5) == [0]  # 9 was used before 5, and goes
    assert missed(13, 5, 13) == []
    assert missed(9) == [0]  # 5 goes
    assert missed(13, 9) == []
    assert missed(5, 1, 6) == [0, 1]
    assert missed(1, 5, 0, 6, 7) == []


def test_gelu(bench: Bench) -> None:
    """Through a product of one column pair: absolute error at most 1e-6 for |x| <= 12."""
    values = np.concatenate([np.linspace(-12, 12, 4000), [0.0, -0.0, 1e-30, -40, 60]])
    values = np.resize(values, (4032,)).astype(np.float32)
    rng = np.random.default_rng(0)
    # Zero weights leave the bias alone: gelu(bias / s_x), and s_x is near 128.
    x = rng.normal(0, 1, (1, 4)).astype(np.float32)
    target = bench.space(4 * 4032)
    scaled = BitLinear(bench, np.zeros((4032, 4), np.int8), 1.0, values * 128)
    bench.run(scaled.instructions(bench.put(x), target, _ops.MODE_GELU), [1])
    inputs = (values * np.float32(128)) * bench.floats(scaled.inverse_scale, 1)[0]
    error = np.abs(bench.floats(target, 4032) - exact_gelu(inputs.astype(np.float64)))
    assert error[np.abs(inputs) <= 12].max() <= 1e-6
    assert np.isfinite(bench.floats(target, 4032)).all()
