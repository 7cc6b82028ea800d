"""The four table formats, one module each; an installed build carries one of them.

A codec says how a row of the embedding table lies in the file. Reading the rows is the kernel's
work, which is compiled for one format, so a codec is only sizes and names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from ..errors import ModelOtherBuildError


@dataclass(frozen=True)
class Codec:
    """Layout of one table format.

    name            "fp32", "int8", "ternary" or "int4"
    tag             the header's embedding_format byte
    row_bytes       d_model -> bytes of one token's row, without its scale
    code_kind       what the rows hold: "f32", "int8", "int4" or "codes" (ternary)
    has_row_scale   whether vocab_size f32 row scales follow the rows
    """

    name: str
    tag: int
    row_bytes: Callable[[int], int]
    code_kind: str
    has_row_scale: bool


def codec(name: str) -> Codec:
    """The codec of a format, or ModelOtherBuildError where this build does not carry it."""
    module = f"{__name__}._{name}"
    try:
        found: Codec = import_module(module).CODEC
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModelOtherBuildError(
            f"embedding_format is {name}, which this build cannot read: "
            f"install tern-engine-emb-{name} for it"
        ) from None
    return found
