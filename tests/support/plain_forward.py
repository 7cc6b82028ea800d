"""The forward pass once more, in plain Python: lists, loops and float64, offsets counted by hand.

Written from the formulas alone. It shares nothing with the numpy reference, not even the layout in
format.py, and so can stand judge over both on models of a few thousand parameters.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

Vector = list[float]
Matrix = list[list[float]]
BitLinear = tuple[Matrix, float, Vector]

EPS = 1e-5


class Reader:
    """Takes numbers off a model's bytes, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 32

    def take(self, n: int) -> bytes:
        self.at += n
        return self.data[self.at - n : self.at]

    def floats(self, n: int) -> Vector:
        return list(struct.unpack(f"<{n}f", self.take(4 * n)))

    def ternary(self, n_out: int, n_in: int) -> Matrix:
        rows = []
        for _ in range(n_out):
            packed = self.take(n_in // 4)
            codes = [byte // 4**place % 4 for byte in packed for place in range(4)]
            rows.append([(0.0, 1.0, -1.0, math.nan)[code] for code in codes])
        return rows

    def bit_linear(self, n_out: int, n_in: int, *, bias: bool) -> BitLinear:
        codes = self.ternary(n_out, n_in)
        (scale,) = self.floats(1)
        return codes, scale, self.floats(n_out) if bias else [0.0] * n_out

    def table(self, tag: int, vocab: int, d: int) -> Matrix:
        if tag == 0:
            return [self.floats(d) for _ in range(vocab)]
        if tag == 1:
            rows = [
                [float(code) for code in struct.unpack(f"{d}b", self.take(d))] for _ in range(vocab)
            ]
        elif tag == 2:
            rows = self.ternary(vocab, d)
        else:
            nibbles = [
                [half for byte in self.take(d // 2) for half in (byte % 16, byte // 16)]
                for _ in range(vocab)
            ]
            rows = [[float(n if n < 8 else n - 16) for n in row] for row in nibbles]
        scales = self.floats(vocab)
        return [[code * scale for code in row] for row, scale in zip(rows, scales, strict=True)]


def plain_forward(data: bytes, ids: Sequence[int]) -> Vector:
    """The vector of token ids under a model's bytes, which are taken to be valid."""
    (tag, _, vocab, d, n_layers, n_heads, ffn, n_out, _) = struct.unpack("<BBIHBBHHH", data[6:22])
    file = Reader(data)
    table = file.table(tag, vocab, d)
    x = [table[token] for token in ids]
    for _ in range(n_layers):
        n = affine(x, file.floats(d), file.floats(d))
        q, k, v = (bit(n, *file.bit_linear(d, d, bias=False)) for _ in range(3))
        x = add(x, bit(attend(q, k, v, n_heads), *file.bit_linear(d, d, bias=True)))
        n = affine(x, file.floats(d), file.floats(d))
        hidden = bit(n, *file.bit_linear(ffn, d, bias=True))
        hidden = [[0.5 * h * (1 + math.erf(h / math.sqrt(2))) for h in row] for row in hidden]
        x = add(x, bit(hidden, *file.bit_linear(d, ffn, bias=True)))
    n = affine(x, file.floats(d), file.floats(d))
    mean = [sum(column) / len(n) for column in zip(*n, strict=True)]
    weight = [file.floats(d) for _ in range(n_out)]
    bias = file.floats(n_out)
    y = [dot(row, mean) + b for row, b in zip(weight, bias, strict=True)]
    length = max(math.sqrt(dot(y, y)), 1e-12)
    return [each / length for each in y]


def bit(x: Matrix, codes: Matrix, scale: float, bias: Vector) -> Matrix:
    out = []
    for row in x:
        n = normal(row)
        s_x = 128 / max(max(abs(each) for each in n), 1e-5)
        # Python's round is half to even.
        q = [min(max(round(each * s_x), -128), 127) for each in n]
        out.append([(dot(q, c) + b) / (scale * s_x) for c, b in zip(codes, bias, strict=True)])
    return out


def attend(q: Matrix, k: Matrix, v: Matrix, n_heads: int) -> Matrix:
    d_head = len(q[0]) // n_heads
    out = []
    for query in q:
        row = []
        for head in range(n_heads):
            part = slice(head * d_head, (head + 1) * d_head)
            raised = [math.exp(dot(query[part], key[part]) / math.sqrt(d_head)) for key in k]
            for column in range(part.start, part.stop):
                row.append(dot(raised, [value[column] for value in v]) / sum(raised))
        out.append(row)
    return out


def normal(row: Vector) -> Vector:
    mean = sum(row) / len(row)
    variance = sum((each - mean) ** 2 for each in row) / len(row)
    return [(each - mean) / math.sqrt(variance + EPS) for each in row]


def affine(x: Matrix, weight: Vector, bias: Vector) -> Matrix:
    return [[n * w + b for n, w, b in zip(normal(row), weight, bias, strict=True)] for row in x]


def add(x: Matrix, y: Matrix) -> Matrix:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, y, strict=True)]


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
