"""Attention and the rows of equal tokens, SIMD and scalar twin, against numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tern_engine.kernels import _ops

from tests.support.kernel_bench import F64, Bench


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
