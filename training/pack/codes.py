"""tern_tools.models.codes, for what imports it from here."""

from tern_tools.models.codes import (
    decode,
    dequantize_table,
    encode,
    quantize_bit_linear,
    quantize_table,
)

__all__ = ["decode", "dequantize_table", "encode", "quantize_bit_linear", "quantize_table"]
