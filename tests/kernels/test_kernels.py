"""The other kernel routines, SIMD and scalar twin, against numpy; and the self-test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from tern_engine.embeddings import codec
from tern_engine.kernels import SELF_TEST_ANSWER, _ops

from tests.support.kernel_bench import F32, Bench, exact_gelu, norm, quantized
from tools.kernels import TABLES


@pytest.mark.parametrize("d", [4, 20, 256])
def test_pool(bench: Bench, d: int) -> None:
    rng = np.random.default_rng(d)
    lengths = [1, 7, 3]
    x = rng.normal(1, 2, (11, d)).astype(np.float32)
    gamma, beta = rng.normal(0, 1, (2, d)).astype(np.float32)
    target = bench.space(4 * 3 * d)
    norms = {"gamma": bench.put(gamma), "beta": bench.put(beta)}
    line = _ops.pool(source=bench.put(x), **norms, target=target, d_model=d, places=0)
    bench.run([line], lengths)
    rows = norm(x) * gamma + beta
    expected = [part.mean(axis=0) for part in np.split(rows, np.cumsum(lengths)[:-1])]
    np.testing.assert_allclose(bench.floats(target, 3, d), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("outputs", [1, 6, 384])
@pytest.mark.parametrize("texts", [1, 5])
def test_project(bench: Bench, outputs: int, texts: int) -> None:
    rng = np.random.default_rng(outputs)
    d, padded = 20, -(-outputs // 4) * 4
    x = rng.normal(0, 1, (texts, d)).astype(np.float32)
    weights = rng.normal(0, 1, (outputs, d)).astype(np.float32)
    bias = np.zeros(padded, np.float32)
    bias[:outputs] = rng.normal(0, 1, outputs)
    transposed = bench.space(4 * d * padded)
    bench.kernel.call("fill_zero", transposed, 4 * d * padded)
    bench.kernel.call("pack_projection", bench.put(weights), outputs, d, transposed, padded)
    target = bench.space(4 * texts * padded)
    line = _ops.project(
        source=bench.put(x),
        weights=transposed,
        bias=bench.put(bias),
        target=target,
        d_model=d,
        padded=padded,
    )
    bench.run([line], [1] * texts)
    y = x.astype(np.float64) @ weights.T + bias[:outputs]
    y /= np.linalg.norm(y, axis=1, keepdims=True)
    found = bench.floats(target, texts, padded)
    np.testing.assert_allclose(found[:, :outputs], y, atol=2e-6)
    assert not found[:, outputs:].any()


def test_project_of_zero_is_zero(bench: Bench) -> None:
    """|y| = 0 divides by 1e-12, never by 0."""
    zero = bench.put(np.zeros(16, np.float32))
    target = bench.space(16)
    line = _ops.project(source=zero, weights=zero, bias=zero, target=target, d_model=4, padded=4)
    bench.run([line], [1])
    assert not bench.floats(target, 4).any()


@pytest.mark.parametrize("kind", ["simd", "scalar"])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("d", [4, 12, 256])
def test_gather(compiled: dict[tuple[str, str], bytes], kind: str, table: str, d: int) -> None:
    rng = np.random.default_rng(d)
    bench = Bench(compiled[table, kind])
    vocab = 9
    scale = rng.uniform(0.1, 2, vocab).astype(np.float32)
    limit = {"int8": 127, "int4": 7, "ternary": 1, "fp32": 1}[table]
    values = rng.integers(-limit, limit + 1, (vocab, d))
    if table == "fp32":
        raw: NDArray[np.generic] = rng.normal(0, 1, (vocab, d)).astype(np.float32)
        expected: F32 = raw.astype(np.float32)
    else:
        expected = values.astype(np.float32) * scale[:, None]
        raw = values.astype(np.int8)
        if table == "int4":
            nibbles = values & 15
            raw = (nibbles[:, ::2] | nibbles[:, 1::2] << 4).astype(np.uint8)
        if table == "ternary":
            codes = np.where(values < 0, 2, values).reshape(vocab, -1, 4)
            raw = (codes << np.array([0, 2, 4, 6])).sum(axis=2).astype(np.uint8)
    ids = np.array([8, 0, 3, 3, 7], np.uint32)
    # One byte off, as a table inside a model file may be.
    table_at = bench.put(np.frombuffer(b"\0" + raw.tobytes(), np.uint8)) + 1
    target = bench.space(4 * len(ids) * d)
    line = _ops.gather(
        ids=bench.put(ids),
        table=table_at,
        row_scale=0 if table == "fp32" else bench.put(scale),
        target=target,
        row_bytes=codec(table).row_bytes(d),
        d_model=d,
        vocab=vocab,
    )
    bench.run([line], [len(ids)])
    np.testing.assert_array_equal(bench.floats(target, len(ids), d), expected[ids])


def test_scans_find_the_first_offender(bench: Bench) -> None:
    for name, bad in (("scan_ternary", 0b00110100), ("scan_int4", 0x81), ("scan_int4", 0x18)):
        for size in (1, 15, 16, 40):
            clean = np.full(size, 0x21, np.uint8)
            assert bench.kernel.call(name, bench.put(clean), size) == -1
            for at in {0, size // 2, size - 1}:
                clean[at] = bad
                assert bench.kernel.call(name, bench.put(clean), size) == at
                clean[at] = 0x21
    for value, first_refused in (
        (np.nan, 0), (np.inf, 0), (-np.inf, 0), (-1.0, 1), (0.0, 2), (-0.0, 2), (1e-45, 3),
    ):  # fmt: skip
        floats = np.array([1, 2, value, 3], np.float32)
        for lowest in (0, 1, 2):
            expected = 2 if lowest >= first_refused else -1
            assert bench.kernel.call("scan_floats", bench.put(floats), 4, lowest) == expected


def test_self_test(compiled: dict[tuple[str, str], bytes]) -> None:
    """Its answer is right: the vectors behind it equal numpy's, then it hashes to the constant."""
    answers = set()
    for table in TABLES:
        bench = Bench(compiled[table, "simd"])
        answers.add(bench.kernel.call("self_test") & 0xFFFFFFFF)
        x = bench.floats(bench.kernel.call("self_test_x"), 21, 128)
        packed = np.frombuffer(
            bench.kernel.read(bench.kernel.call("self_test_matrix"), 48 * 32), np.uint8
        ).reshape(48, 32, 1)
        codes = (packed >> np.array([0, 2, 4, 6], np.uint8) & 3).reshape(48, 128).astype(int)
        weights = np.where(codes == 2, -1, codes)
        q, scale = quantized(x)
        y = exact_gelu((q @ weights.T + np.arange(48) - 24) * (1 / 16) / scale)
        found = bench.floats(bench.kernel.call("self_test_y"), 21 * 48 + 21 * 16)
        np.testing.assert_allclose(found[: 21 * 48].reshape(21, 48), y, atol=1e-5)
        mixed = found[21 * 48 :].reshape(21, 2, 8)
        qkv = y.reshape(21, 3, 2, 8)
        for h in range(2):
            scores = qkv[:, 0, h] @ qkv[:, 1, h].T / math.sqrt(8)
            w = np.exp(scores - scores.max(axis=1, keepdims=True))
            expected = w / w.sum(axis=1, keepdims=True) @ qkv[:, 2, h]
            np.testing.assert_allclose(mixed[:, h], expected, atol=1e-4)
    assert answers == {SELF_TEST_ANSWER}
