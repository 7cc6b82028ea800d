"""Rows of f32, no scale."""

from . import Codec

CODEC = Codec("fp32", 0, lambda d: 4 * d, "f32", has_row_scale=False)
