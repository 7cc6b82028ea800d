"""Rows of 2-bit codes, four a byte; value = code * scale[row]."""

from . import Codec

CODEC = Codec("ternary", 2, lambda d: (d + 3) // 4, "codes", has_row_scale=True)
