"""Float tensors -> `.bin`.

Tensor names (matrices are [out_features, in_features], L = 0 ... n_layers - 1):

    embedding.weight                        [vocab_size, d_model]
    layers.L.ln_1.weight, .bias             [d_model]          ln_2 alike
    layers.L.attn.q.weight                  [d_model, d_model] k, v alike
    layers.L.attn.out.weight, .bias         [d_model, d_model], [d_model]
    layers.L.ffn.up.weight, .bias           [ffn_dim, d_model], [ffn_dim]
    layers.L.ffn.down.weight, .bias         [d_model, ffn_dim], [d_model]
    ln_final.weight, .bias                  [d_model]
    out.weight, .bias                       [output_dim, d_model], [output_dim]

A table that was trained quantized comes with its own row scales, which are stored untouched
(<format> is int8, int4 or ternary):

    embedding.<format>_scale  [vocab_size], always, and one of
    embedding.<format>        [vocab_size, d_model], the integer codes, stored untouched too
    embedding.weight          [vocab_size, d_model], float values to which the scales apply:
                              code = round(value / scale), half to even, clamped to the format's
                              range. Values kept as float16 can fall on the other side of a half
                              than the float32 ones did, so only codes or float32 are exact.

Two numbers are in no tensor: n_heads and max_seq_len. They stand in a safetensors file's metadata,
or as 0-d arrays of those names in an `.npz`.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from tern_engine.embeddings import codec
from tern_engine.errors import InvalidInputError, ModelValueError
from tern_engine.format import Header, sections, write_header

from .codes import (
    LARGEST_CODE,
    Floats,
    codes_of_scale,
    dequantize_table,
    encode,
    quantize_bit_linear,
    quantize_table,
)

Tensors = Mapping[str, NDArray[Any]]

_NUMBERS = ("n_heads", "max_seq_len")


@dataclass(frozen=True)
class Table:
    """An embedding table: floats [vocab_size, d_model] (format fp32), or codes and row scales."""

    embedding_format: str
    values: NDArray[Any]
    scale: Floats | None

    def to(self, embedding_format: str) -> Table:
        """The table in a format: untouched in its own, else quantized from its float values."""
        if embedding_format == self.embedding_format:
            return self
        floats = self.values if self.scale is None else dequantize_table(self.values, self.scale)
        if embedding_format == "fp32":
            return Table("fp32", floats, None)
        codes, scale = quantize_table(embedding_format, floats)
        return Table(embedding_format, codes, scale)

    def sections(self) -> dict[str, bytes]:
        """The table's file sections by name."""
        if self.scale is None:
            return {"embedding": self.values.astype("<f4").tobytes()}
        kind = codec(self.embedding_format).code_kind
        return {
            "embedding": encode(kind, self.values),
            "embedding.scale": self.scale.astype("<f4").tobytes(),
        }


def pack(tensors: Tensors, *, embedding_format: str, n_heads: int, max_seq_len: int) -> bytes:
    """The model file's bytes.

    Raises InvalidInputError for a missing, unknown or ill-shaped tensor, ModelValueError for a
    value that is not finite, ModelShapeError for dimensions that no reader would take.
    """
    for name, tensor in tensors.items():
        if np.asarray(tensor).dtype.kind not in "biuf":
            raise InvalidInputError(
                field=name, found=f"of type {np.asarray(tensor).dtype}", expected="numbers"
            )
    with np.errstate(over="ignore"):
        tensors = {name: np.asarray(tensor, dtype=np.float32) for name, tensor in tensors.items()}
    for name, tensor in tensors.items():
        if not np.all(np.isfinite(tensor)):
            raise ModelValueError(field=name, found="not finite", expected="finite float32 numbers")
    table = read_table(tensors)
    header = _header(tensors, table, embedding_format, n_heads, max_seq_len)
    parts = table.to(embedding_format).sections()
    head = write_header(header)
    _check_tensors(tensors, header)
    for name, tensor in tensors.items():
        if name.startswith("embedding."):
            continue
        if name.startswith("layers.") and tensor.ndim == 2:
            codes, scale = quantize_bit_linear(tensor)
            stem = name.removesuffix(".weight")
            parts[stem + ".codes"] = encode("codes", codes)
            parts[stem + ".scale"] = scale.astype("<f4").tobytes()
        else:
            parts[name] = tensor.astype("<f4").tobytes()
    return seal(head + b"".join(parts[section.name] for section in sections(header)))


def seal(body: bytes) -> bytes:
    """The body with its trailer, the SHA-256 of it."""
    return body + hashlib.sha256(body).digest()


def read_table(tensors: Mapping[str, Floats]) -> Table:
    """The embedding table of a set of tensors, quantized if it came so."""
    stored = [name for name in LARGEST_CODE if f"embedding.{name}_scale" in tensors]
    if len(stored) > 1:
        raise InvalidInputError(
            field="embedding", found=f"row scales of {' and '.join(stored)}", expected="one format"
        )
    if not stored:
        return Table("fp32", _matrix(tensors, "embedding.weight"), None)
    name = stored[0]
    scale = tensors[f"embedding.{name}_scale"].copy()
    codes_name = f"embedding.{name}"
    given = _matrix(tensors, codes_name if codes_name in tensors else "embedding.weight")
    if scale.shape != given.shape[:1]:
        raise InvalidInputError(
            field=f"embedding.{name}_scale",
            found=f"of shape {scale.shape} beside a table of shape {given.shape}",
            expected="one scale a row",
        )
    if np.any(scale < 0):
        raise ModelValueError(
            field=f"embedding.{name}_scale", found="negative", expected="scales >= 0"
        )
    if codes_name not in tensors:
        codes = codes_of_scale(given, scale, LARGEST_CODE[name])
    elif np.all(np.abs(given) <= LARGEST_CODE[name]) and np.all(given == np.rint(given)):
        codes = given.astype(np.int8)
    else:
        raise InvalidInputError(
            field=codes_name,
            found="not a table of codes",
            expected=f"integers from -{LARGEST_CODE[name]} to {LARGEST_CODE[name]}",
        )
    codes[0], scale[0] = 0, 0
    return Table(name, codes, scale)


def _header(
    tensors: Tensors, table: Table, embedding_format: str, n_heads: int, max_seq_len: int
) -> Header:
    up = _matrix(tensors, "layers.0.ffn.up.weight")
    out = _matrix(tensors, "out.weight")
    layers = {name.split(".")[1] for name in tensors if name.startswith("layers.")}
    vocab_size, d_model = table.values.shape
    return Header(
        embedding_format=embedding_format,
        vocab_size=vocab_size,
        d_model=d_model,
        n_layers=len(layers),
        n_heads=n_heads,
        ffn_dim=up.shape[0],
        output_dim=out.shape[0],
        max_seq_len=max_seq_len,
    )


def _get(tensors: Tensors, name: str) -> NDArray[Any]:
    if name not in tensors:
        raise InvalidInputError(field=name, found="missing", expected="a tensor of that name")
    return tensors[name]


def _matrix(tensors: Tensors, name: str) -> NDArray[Any]:
    tensor = _get(tensors, name)
    if tensor.ndim != 2:
        raise InvalidInputError(field=name, found=f"of shape {tensor.shape}", expected="a matrix")
    return tensor


def tensor_shapes(header: Header) -> dict[str, tuple[int, ...]]:
    """Shape of every float tensor but the table's, by name, as pack() wants them."""
    d, ffn = header.d_model, header.ffn_dim
    shapes: dict[str, tuple[int, ...]] = {}
    for i in range(header.n_layers):
        at = f"layers.{i}."
        for norm in ("ln_1", "ln_2"):
            shapes |= {f"{at}{norm}.weight": (d,), f"{at}{norm}.bias": (d,)}
        shapes |= {f"{at}attn.{name}.weight": (d, d) for name in ("q", "k", "v", "out")}
        shapes |= {f"{at}attn.out.bias": (d,)}
        shapes |= {f"{at}ffn.up.weight": (ffn, d), f"{at}ffn.up.bias": (ffn,)}
        shapes |= {f"{at}ffn.down.weight": (d, ffn), f"{at}ffn.down.bias": (d,)}
    shapes |= {"ln_final.weight": (d,), "ln_final.bias": (d,)}
    shapes |= {"out.weight": (header.output_dim, d), "out.bias": (header.output_dim,)}
    return shapes


def _check_tensors(tensors: Tensors, header: Header) -> None:
    shapes = tensor_shapes(header)
    for name, shape in shapes.items():
        found = _get(tensors, name).shape
        if found != shape:
            raise InvalidInputError(field=name, found=f"of shape {found}", expected=f"{shape}")
    table_names = {"embedding.weight"}
    for name in LARGEST_CODE:
        table_names |= {f"embedding.{name}", f"embedding.{name}_scale"}
    unknown = sorted(set(tensors) - set(shapes) - table_names)
    if unknown:
        raise InvalidInputError(f"unknown tensors: {', '.join(unknown)}")


def load_tensors(path: str | Path) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
    """Tensors of a `.safetensors` or `.npz` file, and its n_heads and max_seq_len, where given.

    Raises InvalidInputError for what is not such a file, OSError.
    """
    path = Path(path)
    path.open("rb").close()  # an OSError here names the file
    tensors, found = _read_npz(path) if path.suffix == ".npz" else _read_safetensors(path)
    numbers = {}
    for name in _NUMBERS:
        if name in found:
            try:
                numbers[name] = int(found[name])
            except (TypeError, ValueError):
                raise InvalidInputError(
                    field=f"{path}: {name}", found=found[name], expected="an integer"
                ) from None
    return tensors, numbers


def _read_npz(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            tensors = dict(arrays)
    except (ValueError, EOFError, TypeError, AttributeError, BadZipFile, zlib.error) as error:
        # A .npy file gives an array, which is no context manager.
        raise InvalidInputError(f"{path} is not a whole .npz file: {error}") from None
    return tensors, {name: tensors.pop(name) for name in _NUMBERS if name in tensors}


def _read_safetensors(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    with open_safetensors(path) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, file.metadata() or {}


@contextmanager
def open_safetensors(path: Path) -> Iterator[Any]:
    """The file, opened for numpy. InvalidInputError for what is no `.safetensors` file.

    ModuleNotFoundError without the package.
    """
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a .safetensors file needs safetensors: pip install 'tern-tools[models]'",
            name="safetensors",
        ) from error
    try:
        with safe_open(path, framework="numpy") as file:
            yield file
    except (SafetensorError, TypeError, AttributeError) as error:
        # The last two are of types that numpy has not, as bfloat16.
        raise InvalidInputError(f"{path} is no .safetensors file of floats: {error}") from None
