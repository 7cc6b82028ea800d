"""Rows of signed bytes; value = code * scale[row]."""

from . import Codec

CODEC = Codec("int8", 1, lambda d: d, "int8", has_row_scale=True)
