"""Rows of two's complement nibbles, the even element in the low one; value = code * scale[row]."""

from . import Codec

CODEC = Codec("int4", 3, lambda d: (d + 1) // 2, "int4", has_row_scale=True)
