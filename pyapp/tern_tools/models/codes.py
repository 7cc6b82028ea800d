"""Small integers in bytes, and the rules that make them out of floats.

Codes are int8 arrays in memory, whatever their width in the file. A "float table" is float32
[vocab_size, d_model]; a quantized one is (codes int8 [vocab_size, d_model], scale float32
[vocab_size]) with value = code * scale of its row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Codes = NDArray[np.int8]

TERNARY_RESERVED = 3
INT4_RESERVED = -8
LARGEST_CODE = {"int8": 127, "int4": 7, "ternary": 1}

_TERNARY_OF_BITS = np.array([0, 1, -1, TERNARY_RESERVED], dtype=np.int8)


def encode(kind: str, codes: Codes) -> bytes:
    """Codes [rows, n] as a section's bytes; kind is "int8", "int4" or "codes" (ternary).

    Each row starts on a byte of its own: a row whose length does not fill its last byte is padded
    with zero codes.
    """
    if kind == "int8":
        return codes.astype(np.int8).tobytes()
    per_byte = 2 if kind == "int4" else 4
    rows, n = codes.shape
    padded = np.zeros((rows, -(-n // per_byte) * per_byte), dtype=np.int8)
    padded[:, :n] = codes
    bits = padded.astype(np.uint8)
    if kind == "int4":
        nibbles = bits & 15
        return (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).tobytes()
    bits = np.where(padded == -1, np.uint8(2), bits)
    return (bits[:, 0::4] | bits[:, 1::4] << 2 | bits[:, 2::4] << 4 | bits[:, 3::4] << 6).tobytes()


def decode(kind: str, raw: NDArray[np.uint8], rows: int, n: int) -> Codes:
    """A section's bytes as codes [rows, n]. Reserved ones come out as 3 (ternary) and -8 (int4)."""
    if kind == "int8":
        return raw.view(np.int8).reshape(rows, n)
    by_row = raw.reshape(rows, -1)
    if kind == "int4":
        nibbles = np.stack([by_row & 15, by_row >> 4], axis=-1).reshape(rows, -1).astype(np.int8)
        return (((nibbles + 8) & 15) - 8)[:, :n]
    pairs = np.stack([by_row >> shift & 3 for shift in (0, 2, 4, 6)], axis=-1).reshape(rows, -1)
    return _TERNARY_OF_BITS[pairs[:, :n]]


def quantize_table(embedding_format: str, table: Floats) -> tuple[Codes, Floats]:
    """A float table under the format's own rule. Row 0, [PAD], becomes zero with scale 0."""
    table = table.copy()
    table[0] = 0
    magnitude = np.abs(table)
    if embedding_format == "ternary":
        scale = magnitude.mean(axis=1, dtype=np.float64).astype(np.float32)
        codes = np.where(magnitude > scale[:, None] / 2, np.sign(table), 0)
        return codes.astype(np.int8), scale
    largest = LARGEST_CODE[embedding_format]
    scale = magnitude.max(axis=1) / np.float32(largest)
    return codes_of_scale(table, scale, largest), scale


def codes_of_scale(table: Floats, scale: Floats, largest: int) -> Codes:
    """round(value / scale of its row), half to even, clamped to -largest..largest.

    A row of scale 0 (zeros, or so small that its scale underflowed) gets zeros.
    """
    by_row = scale[:, None]
    steps = np.divide(table, by_row, out=np.zeros_like(table), where=by_row > 0)
    return np.clip(np.rint(steps), -largest, largest).astype(np.int8)


def dequantize_table(codes: Codes, scale: Floats) -> Floats:
    """f32(code * scale), each product rounded once."""
    values: Floats = codes.astype(np.float32) * scale[:, None]
    return values


def quantize_bit_linear(weight: Floats) -> tuple[Codes, np.float32]:
    """Ternary codes of a BitLinear weight [out, in], and the scale s that they were made with.

    s = 1 / max(median|W|, 1e-5), where the median of an even count is the lower of the two middle
    values; code = round(W * s), half to even, clamped to -1..1.
    """
    magnitude = np.abs(weight).ravel()
    middle = (magnitude.size - 1) // 2
    median = np.partition(magnitude, middle)[middle]
    scale = np.float32(1) / np.maximum(median, np.float32(1e-5))
    return np.clip(np.rint(weight * scale), -1, 1).astype(np.int8), scale
