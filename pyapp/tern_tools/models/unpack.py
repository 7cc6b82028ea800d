"""The reference: a `.bin` read into numpy arrays, and its forward pass, slow and obvious.

It shares the engine's layout and errors (format.py, errors.py) and nothing else: its checks of the
checksum, the codes and the values, and all of its arithmetic, are its own. Everything is float32
in the order of the formulas; matrices are [out_features, in_features], y = W x.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import (
    InvalidInputError,
    ModelChecksumError,
    ModelCodeError,
    ModelValueError,
)
from tern_engine.format import CHECKSUM_BYTES, Header, Section, read_header, sections

from .codes import INT4_RESERVED, TERNARY_RESERVED, Floats, decode, dequantize_table

EPS = np.float32(1e-5)

_RESERVED = {
    "codes": (TERNARY_RESERVED, "the reserved code 3", "0, 1 or 2 (0, +1, -1)"),
    "int4": (INT4_RESERVED, "-8", "-7 to 7"),
}
_VALUE_RULE = {
    "f32": "a finite number",
    "row_scale": "a finite number >= 0",
    "scale": "a finite number > 0",
}
_erf = np.frompyfunc(math.erf, 1, 1)


class UnpackedModel:
    """A checked model as arrays.

    header   the dimensions
    tensors  by section name: codes as int8 [out, in], the table as int8 (fp32: float32)
             [vocab_size, d_model], row scales float32 [vocab_size], a matrix's scale as a float32
             scalar, out.weight float32 [output_dim, d_model], all else float32 vectors
    """

    def __init__(self, header: Header, tensors: dict[str, NDArray[Any]]) -> None:
        self.header = header
        self.tensors = tensors
        # The same integers as floats, for the matrix products.
        self._matrices = {
            name: codes.astype(np.float32)
            for name, codes in tensors.items()
            if name.endswith(".codes")
        }

    @classmethod
    def from_file(
        cls, path: str | Path, *, build: str | None = None, vocab_size: int | None = None
    ) -> UnpackedModel:
        return cls.from_bytes(Path(path).read_bytes(), build=build, vocab_size=vocab_size)

    @classmethod
    def from_bytes(
        cls, data: bytes, *, build: str | None = None, vocab_size: int | None = None
    ) -> UnpackedModel:
        """Check everything, then unpack. Raises the ModelError of the first check that fails."""
        header = read_header(data, len(data), build=build, vocab_size=vocab_size)
        _check_checksum(data)
        layout = sections(header)
        tensors = {s.name: _array(data, s, header) for s in layout}
        for section in layout:
            _check_codes(section, tensors[section.name])
        for section in layout:
            _check_values(section, tensors[section.name])
        return cls(header, tensors)

    def float_table(self) -> Floats:
        """The embedding table as float32 [vocab_size, d_model]."""
        return self._rows(slice(None))

    def forward(self, ids: Sequence[int]) -> Floats:
        """The unit vector, float32 [output_dim], of T >= 1 active token ids (no padding)."""
        h, t = self.header, self.tensors
        rows = np.asarray(ids, dtype=np.int64)
        if rows.ndim != 1 or rows.size == 0:
            raise InvalidInputError("ids must be a list of at least one token id")
        if rows.min() < 0 or rows.max() >= h.vocab_size:
            raise InvalidInputError(
                field="token id",
                found=f"{rows.min()} to {rows.max()}",
                expected=f"0 to {h.vocab_size - 1}",
            )
        x = self._rows(rows)
        for i in range(h.n_layers):
            at = f"layers.{i}."
            n = layer_norm(x) * t[at + "ln_1.weight"] + t[at + "ln_1.bias"]
            q, k, v = (self._bit(n, f"{at}attn.{name}") for name in ("q", "k", "v"))
            x = x + self._bit(attention(q, k, v, h.n_heads), at + "attn.out")
            n = layer_norm(x) * t[at + "ln_2.weight"] + t[at + "ln_2.bias"]
            x = x + self._bit(gelu(self._bit(n, at + "ffn.up")), at + "ffn.down")
        n = layer_norm(x) * t["ln_final.weight"] + t["ln_final.bias"]
        y = t["out.weight"] @ n.mean(axis=0) + t["out.bias"]
        vector: Floats = y / np.maximum(np.sqrt(np.sum(y * y)), np.float32(1e-12))
        return vector

    def _rows(self, rows: NDArray[np.int64] | slice) -> Floats:
        """Rows of the table as float32 [T, d_model]."""
        table = self.tensors["embedding"][rows]
        if self.header.embedding_format == "fp32":
            return np.array(table, dtype=np.float32)
        return dequantize_table(table, self.tensors["embedding.scale"][rows])

    def _bit(self, x: Floats, name: str) -> Floats:
        """BitLinear: x [T, in] quantized to int8 a token, times ternary codes, to [T, out]."""
        n = layer_norm(x)
        s_x = np.float32(128) / np.maximum(np.abs(n).max(axis=1, keepdims=True), EPS)
        q = np.clip(np.rint(n * s_x), -128, 127)
        # Exact: every partial sum is an integer below 2**7 * 2**14, which float32 holds.
        product = q @ self._matrices[name + ".codes"].T
        bias = self.tensors.get(name + ".bias")
        if bias is not None:
            product = product + bias
        result: Floats = product / (self.tensors[name + ".scale"] * s_x)
        return result


def layer_norm(x: Floats) -> Floats:
    """Rows of x [T, n] to mean 0 and (biased) variance 1, without parameters."""
    centred = x - x.mean(axis=1, keepdims=True)
    variance = np.mean(centred * centred, axis=1, keepdims=True)
    result: Floats = centred / np.sqrt(variance + EPS)
    return result


def attention(q: Floats, k: Floats, v: Floats, n_heads: int) -> Floats:
    """Full attention over T tokens; heads are contiguous slices of the d columns. [T, d]"""
    d_head = q.shape[1] // n_heads
    out = np.empty_like(q)
    for head in range(n_heads):
        columns = slice(head * d_head, (head + 1) * d_head)
        logits = q[:, columns] @ k[:, columns].T / np.sqrt(np.float32(d_head))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        weights = weights / weights.sum(axis=1, keepdims=True)
        out[:, columns] = weights @ v[:, columns]
    return out


def gelu(x: Floats) -> Floats:
    """x * Phi(x) with the exact error function, in float64, rounded once."""
    wide = x.astype(np.float64)
    erf = np.asarray(_erf(wide / math.sqrt(2)), dtype=np.float64)
    result: Floats = (0.5 * wide * (1 + erf)).astype(np.float32)
    return result


def _array(data: bytes, section: Section, header: Header) -> NDArray[Any]:
    raw = np.frombuffer(data, dtype=np.uint8, count=section.nbytes, offset=section.offset)
    name, kind = section.name, section.kind
    if kind in ("codes", "int4", "int8"):
        return decode(kind, raw, *_matrix_shape(name, header))
    values = raw.copy().view("<f4")
    if kind == "scale":
        return values.reshape(())
    if name in ("embedding", "out.weight"):
        return values.reshape(_matrix_shape(name, header))
    return values


def _matrix_shape(name: str, header: Header) -> tuple[int, int]:
    d, ffn = header.d_model, header.ffn_dim
    if name == "embedding":
        return header.vocab_size, d
    if name == "out.weight":
        return header.output_dim, d
    if name.endswith("ffn.up.codes"):
        return ffn, d
    if name.endswith("ffn.down.codes"):
        return d, ffn
    return d, d


def _check_checksum(data: bytes) -> None:
    body, trailer = memoryview(data)[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    digest = hashlib.sha256(body).digest()
    if digest != trailer:
        raise ModelChecksumError(
            field="SHA-256 of the file", found=digest.hex(), expected=f"the trailer {trailer.hex()}"
        )


def _check_codes(section: Section, codes: NDArray[Any]) -> None:
    if section.kind not in _RESERVED:
        return
    reserved, found, expected = _RESERVED[section.kind]
    at = np.flatnonzero(codes == reserved)
    if at.size:
        raise ModelCodeError(
            field=f"{section.name}[{at[0]}]", found=found, expected=f"a code of {expected}"
        )


def _check_values(section: Section, values: NDArray[Any]) -> None:
    if section.kind not in _VALUE_RULE:
        return
    good = np.isfinite(values)
    if section.kind == "row_scale":
        good &= values >= 0
    elif section.kind == "scale":
        good &= values > 0
    at = np.flatnonzero(~good)
    if at.size:
        raise ModelValueError(
            field=f"{section.name}[{at[0]}]",
            found=values.reshape(-1)[at[0]],
            expected=_VALUE_RULE[section.kind],
        )
