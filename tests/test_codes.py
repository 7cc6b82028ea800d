"""Codes in bytes, and the quantization rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tern_tools.models.codes import (
    decode,
    dequantize_table,
    encode,
    quantize_bit_linear,
    quantize_table,
)

QUANTIZED = ("int8", "int4", "ternary")
KIND = {"int8": "int8", "int4": "int4", "ternary": "codes"}


def f32(*values: float) -> NDArray[np.float32]:
    return np.array(values, dtype=np.float32)


def test_ternary_bytes() -> None:
    codes = np.array([[0, 1, -1, 0, 1, 1, 1, 1], [-1, -1, -1, -1, 0, 0, 0, 1]], dtype=np.int8)
    assert encode("codes", codes) == bytes(
        [0b00_10_01_00, 0b01_01_01_01, 0b10_10_10_10, 0b01_00_00_00]
    )


def test_int4_bytes() -> None:
    codes = np.array([[1, -1, 7, -7], [0, 2, -2, 0]], dtype=np.int8)
    assert encode("int4", codes) == bytes([0xF1, 0x97, 0x20, 0x0E])


def test_rows_start_on_a_byte() -> None:
    codes = np.array([[1, 1, 1], [-1, -1, -1]], dtype=np.int8)
    assert encode("int4", codes) == bytes([0x11, 0x01, 0xFF, 0x0F])
    assert encode("codes", codes) == bytes([0b01_01_01, 0b10_10_10])


@given(st.sampled_from(QUANTIZED), st.integers(1, 5), st.integers(1, 9), st.data())
def test_decode_inverts_encode(name: str, rows: int, n: int, data: st.DataObject) -> None:
    largest = {"int8": 127, "int4": 7, "ternary": 1}[name]
    flat = data.draw(st.lists(st.integers(-largest, largest), min_size=rows * n, max_size=rows * n))
    codes = np.array(flat, dtype=np.int8).reshape(rows, n)
    raw = np.frombuffer(encode(KIND[name], codes), dtype=np.uint8)
    np.testing.assert_array_equal(decode(KIND[name], raw, rows, n), codes)


# Quantization rules


def test_int8_rule() -> None:
    table = np.zeros((3, 4), dtype=np.float32)
    table[0] = 1
    table[1] = f32(127, 0.5, 1.5, -2.5)
    table[2] = f32(-254, 1, 3, -5)
    codes, scale = quantize_table("int8", table)
    assert codes.tolist() == [[0, 0, 0, 0], [127, 0, 2, -2], [-127, 0, 2, -2]]
    assert scale.tolist() == [0, 1, 2]


def test_int4_rule() -> None:
    table = np.zeros((3, 4), dtype=np.float32)
    table[1] = f32(7, 0.5, 2.5, -3.5)
    table[2] = f32(0.7, 0.7, -0.7, 0.1)
    codes, scale = quantize_table("int4", table)
    assert codes.tolist() == [[0, 0, 0, 0], [7, 0, 2, -4], [7, 7, -7, 1]]
    assert scale.tolist() == [0, 1, float(np.float32(0.7) / np.float32(7))]


def test_ternary_rule() -> None:
    table = np.zeros((3, 4), dtype=np.float32)
    table[0] = 9
    table[1] = f32(3, -3, 1, 1)  # mean 2: exactly half of it is not enough
    table[2] = f32(-4, 0, 0, -0.1)
    codes, scale = quantize_table("ternary", table)
    assert codes.tolist() == [[0, 0, 0, 0], [1, -1, 0, 0], [-1, 0, 0, 0]]
    np.testing.assert_array_equal(scale, f32(0, 2, 4.1 / 4))


@pytest.mark.parametrize("name", QUANTIZED)
def test_rows_of_zeros_and_of_almost_nothing(name: str) -> None:
    table = np.zeros((4, 4), dtype=np.float32)
    table[2] = np.float32(1e-45)  # the least float32: its scale underflows, or does not
    table[3] = np.float32(3e38)
    codes, scale = quantize_table(name, table)
    assert codes[1].tolist() == [0, 0, 0, 0]
    assert scale[1] == 0
    assert np.all(np.isfinite(scale))
    assert np.all(np.isfinite(dequantize_table(codes, scale)))
    assert len(set(codes[3].tolist())) == 1
    assert codes[3][0] > 0


def test_bit_linear_takes_the_lower_of_two_middle_values() -> None:
    codes, scale = quantize_bit_linear(f32(0.5, -2, 0.25, 1).reshape(2, 2))
    assert scale == 2  # |W| sorted: 0.25 0.5 1 2; median 0.5
    assert codes.tolist() == [[1, -1], [0, 1]]  # 0.25 * 2 = 0.5 rounds to even, to 0


def test_bit_linear_of_nothing_has_the_largest_scale() -> None:
    codes, scale = quantize_bit_linear(np.zeros((4, 4), dtype=np.float32))
    assert scale == np.float32(1) / np.float32(1e-5)
    assert not codes.any()
