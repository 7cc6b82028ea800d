"""Every kernel routine, SIMD and scalar twin, against numpy."""

from __future__ import annotations

import inspect
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tern_engine.embeddings import codec
from tern_engine.kernels import SELF_TEST_ANSWER, _ops

from tests.support.kernel_bench import F32, Bench, BitLinear
from tools.kernels import TABLES, compile_kernel

F64 = NDArray[np.float64]
MODES = {"store": _ops.MODE_STORE, "add": _ops.MODE_ADD, "gelu": _ops.MODE_GELU}


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], bytes]:
    """(table, "simd" | "scalar") -> wasm, compiled from the sources as they stand."""
    folder: Path = tmp_path_factory.mktemp("kernels")
    binaries = {}
    for table in TABLES:
        for kind in ("simd", "scalar"):
            out = folder / f"{table}-{kind}.wasm"
            compile_kernel(table, out, scalar=kind == "scalar")
            binaries[table, kind] = out.read_bytes()
    return binaries


@pytest.fixture(params=["simd", "scalar"])
def bench(request: pytest.FixtureRequest, compiled: dict[tuple[str, str], bytes]) -> Bench:
    return Bench(compiled["int4", request.param])


def norm(x: NDArray[np.floating]) -> F64:
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


def attention_space(bench: Bench, tokens: int, head: int) -> int:
    """Scratch of an attend instruction, for texts of at most `tokens` tokens."""
    keys = -(-tokens // 8) * 8
    return bench.space(4 * ((head + -(-head // 8) * 8 + 16) * keys + 16 * head))


def plain_attention(q: F64, k: F64, v: F64) -> F64:
    scores = q @ k.T / math.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    result: F64 = weights / weights.sum(axis=1, keepdims=True) @ v
    return result


@pytest.mark.parametrize(("heads", "d_head"), [(1, 4), (4, 64), (2, 6), (4, 3), (1, 20)])
@pytest.mark.parametrize("lengths", [[1], [2, 5], [16, 17, 1], [128]])
def test_attend(bench: Bench, heads: int, d_head: int, lengths: list[int]) -> None:
    rng = np.random.default_rng(d_head)
    rows, head, longest = sum(lengths), -(-d_head // 4) * 4, max(lengths)
    qkv = np.zeros((rows, 3, heads, head), np.float32)
    qkv[..., :d_head] = rng.normal(0, 2, (rows, 3, heads, d_head))
    target = bench.space(4 * rows * heads * d_head)
    line = _ops.attend(
        qkv=bench.put(qkv),
        target=target,
        scratch=attention_space(bench, longest, head),
        heads=heads,
        d_head=d_head,
        padded_head=head,
        places=0,
    )
    bench.run([line], lengths)
    found = bench.floats(target, rows, heads, d_head)
    first = 0
    for length in lengths:
        part = qkv[first : first + length, :, :, :d_head].astype(np.float64)
        for h in range(heads):
            q, k, v = part[:, 0, h], part[:, 1, h], part[:, 2, h]
            actual = found[first : first + length, h]
            np.testing.assert_allclose(actual, plain_attention(q, k, v), rtol=1e-4, atol=1e-5)
        first += length


def test_attend_survives_extreme_scores(bench: Bench) -> None:
    qkv = np.zeros((3, 3, 1, 4), np.float32)
    qkv[:, 0, 0] = 1e3
    qkv[:, 1, 0] = [[1e3] * 4, [-1e3] * 4, [0] * 4]
    qkv[:, 2, 0] = np.arange(12).reshape(3, 4)
    target = bench.space(48)
    line = _ops.attend(
        qkv=bench.put(qkv),
        target=target,
        scratch=attention_space(bench, 3, 4),
        heads=1,
        d_head=4,
        padded_head=4,
        places=0,
    )
    bench.run([line], [3])
    np.testing.assert_array_equal(bench.floats(target, 3, 4), np.tile(qkv[0, 2, 0], (3, 1)))


@pytest.mark.parametrize("lengths", [[1], [3, 1, 12], [40, 2, 70]])
def test_equal_tokens_share_a_row(bench: Bench, lengths: list[int]) -> None:
    """Attention and pooling of distinct rows give the bits that a row a token gives."""
    rng = np.random.default_rng(sum(lengths))
    texts = [rng.integers(1, 3 * n // 4 + 2, n).astype(np.uint32) for n in lengths]
    # Rows of a text: its tokens in the order of their first occurrence.
    distinct = [np.array(list(dict.fromkeys(text.tolist())), np.uint32) for text in texts]
    places = [
        np.array([rows.tolist().index(token) for token in text], np.uint32)
        for text, rows in zip(texts, distinct, strict=True)
    ]
    tokens, rows = sum(lengths), sum(map(len, distinct))
    at = {name: bench.space(4 * tokens + 16) for name in ("places", "rows", "counts")}
    # What a call before this one left.
    bench.kernel.write(at["rows"], np.concatenate(distinct)[::-1].tobytes())
    first = _ops.distinct(ids=bench.put(np.concatenate(texts)), **at)
    bench.run([first], lengths)
    for name, expected in (
        ("places", np.concatenate(places)),
        ("rows", np.concatenate(distinct)),
        ("counts", np.array([len(rows) for rows in distinct])),
    ):
        found = np.frombuffer(bench.kernel.read(at[name], 4 * len(expected)), np.uint32)
        np.testing.assert_array_equal(found, expected)

    heads, head = 2, 8
    by_row = rng.normal(0, 2, (rows, 3 * heads * head)).astype(np.float32)
    starts = np.cumsum([0, *map(len, distinct)])
    by_token = np.concatenate([by_row[s + p] for s, p in zip(starts, places, strict=False)])
    gamma, beta = bench.put(by_row[0, :16]), bench.put(by_row[-1, :16])
    results = []
    for qkv, count, share in ((by_token, tokens, 0), (by_row, rows, at["places"])):
        mixed, pooled = bench.space(4 * count * 16), bench.space(4 * len(lengths) * 16)
        attend = _ops.attend(
            qkv=bench.put(qkv),
            target=mixed,
            scratch=attention_space(bench, max(lengths), head),
            heads=heads,
            d_head=head,
            padded_head=head,
            places=share,
        )
        source = bench.put(qkv[:, :16])
        pool = _ops.pool(
            source=source, gamma=gamma, beta=beta, target=pooled, d_model=16, places=share
        )
        bench.run([*([first] if share else []), attend, pool], lengths)
        results.append((bench.floats(mixed, count, 16), bench.floats(pooled, len(lengths), 16)))
    (mixed_tokens, pooled_tokens), (mixed_rows, pooled_rows) = results
    expected = np.concatenate([mixed_rows[s + p] for s, p in zip(starts, places, strict=False)])
    np.testing.assert_array_equal(mixed_tokens, expected)
    np.testing.assert_array_equal(pooled_tokens, pooled_rows)


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
