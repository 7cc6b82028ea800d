"""From the bytes of a `.bin` to checked, prepared weights in kernel memory.

The file is copied once, into kernel memory, and its table is read where it lies. What the kernel
wants in another shape (packed ternary panels, the projection in panels, aligned vectors) is laid
out beside it, at load.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from .embeddings import codec
from .errors import ModelChecksumError, ModelCodeError, ModelValueError
from .format import CHECKSUM_BYTES, HEADER_BYTES, Header, Section, read_header, sections
from .kernels import Kernel

HASH_CHUNK = 1 << 20
PANEL_OUTPUTS = 32  # panels.h reads two panels of 16 at a time
BLOCK_COLUMNS = 64  # sums.h tabulates 64 columns at a time
ATTENTION_PARTS = ("attn.q", "attn.k", "attn.v")  # one product, in this order


def round_up(n: int, step: int) -> int:
    """n rounded up to a multiple of step."""
    return -(-n // step) * step


class Layout:
    """Hands out 16-byte-aligned ranges of kernel memory, one after another."""

    def __init__(self, start: int) -> None:
        self.end = round_up(start, 16)

    def place(self, nbytes: int) -> int:
        """Offset of a new range."""
        offset = self.end
        self.end = round_up(offset + nbytes, 16)
        return offset


@dataclass(frozen=True)
class Norm:
    """Offsets of gamma and beta, f32 [d_model] each."""

    gamma: int
    beta: int


@dataclass(frozen=True)
class Linear:
    """A prepared BitLinear: its weights twice, 1 / s_w and bias per output, padded columns."""

    weights: int
    indexes: int
    inverse_scale: int
    bias: int
    columns: int
    outputs: int


@dataclass(frozen=True)
class Layer:
    ln_1: Norm
    qkv: Linear
    out: Linear
    ln_2: Norm
    up: Linear
    down: Linear


@dataclass(frozen=True)
class Weights:
    """Where every weight lies. `row_scale` is 0 for an fp32 table."""

    table: int
    row_scale: int
    row_bytes: int
    layers: tuple[Layer, ...]
    ln_final: Norm
    projection: int
    projection_bias: int
    padded_output: int


@dataclass(frozen=True)
class Model:
    header: Header
    fingerprint: str
    weights: Weights
    nbytes: int


def padded_head(header: Header) -> int:
    """Floats that a head takes in the q, k, v rows: d_head rounded up to a SIMD register."""
    return round_up(header.d_head, 4)


def index_bytes(outputs: int, padded_columns: int) -> int:
    """Bytes of a product's indexes, see sums.h."""
    return padded_columns // BLOCK_COLUMNS * (16 + 34 * outputs)


def load_model(
    kernel: Kernel,
    source: Any,
    nbytes: int,
    first: bytes,
    build: str,
    vocab_size: int,
    known: str = "",
) -> tuple[Model, Layout]:
    """Check a model, copy it into kernel memory and prepare its weights.

    source   the whole file: a bytes-like object, or a JS typed array on Pyodide
    nbytes   its length
    first    its first HEADER_BYTES bytes (fewer when it is shorter)
    known    its fingerprint, where that and its checksum were checked already
    Returns the model, and the layout with everything after it still free.
    Raises a ModelError, in the order of errors.py; nothing is allocated before the length fits.
    """
    header = read_header(first, nbytes, build=build, vocab_size=vocab_size)
    layout = Layout(kernel.heap_base)
    base = layout.place(nbytes)
    weights = _place_weights(header, layout, base)
    kernel.reserve(layout.end)
    kernel.write(base, source)
    fingerprint = known or _check_checksum(kernel, base, nbytes)
    parts = {section.name: section for section in sections(header)}
    _check_codes(kernel, base, parts)
    _check_values(kernel, base, parts)
    _prepare(kernel, header, base, parts, weights)
    return Model(header, fingerprint, weights, nbytes), layout


def _check_checksum(kernel: Kernel, base: int, nbytes: int) -> str:
    """The fingerprint: SHA-256 of the whole file, hex, as sha256sum prints it."""
    digest = hashlib.sha256()
    end = nbytes - CHECKSUM_BYTES
    for start in range(0, end, HASH_CHUNK):
        digest.update(kernel.read(base + start, min(HASH_CHUNK, end - start)))
    stored = kernel.read(base + end, CHECKSUM_BYTES)
    if digest.digest() != stored:
        raise ModelChecksumError(
            field="SHA-256 of the content", found=digest.hexdigest(), expected=stored.hex()
        )
    digest.update(stored)
    return digest.hexdigest()


def _check_codes(kernel: Kernel, base: int, parts: dict[str, Section]) -> None:
    scans = {
        "codes": ("scan_ternary", "a reserved code 11", "codes 00, 01 and 10"),
        "int4": ("scan_int4", "the code -8", "codes -7 to 7"),
    }
    for part in parts.values():
        if part.kind not in scans:
            continue
        scan, found, expected = scans[part.kind]
        at = kernel.call(scan, base + part.offset, part.nbytes)
        if at >= 0:
            raise ModelCodeError(
                field=f"{part.name}, byte {at}", found=found, expected=f"only {expected}"
            )


def _check_values(kernel: Kernel, base: int, parts: dict[str, Section]) -> None:
    lowest = {
        "f32": (0, "finite"),
        "row_scale": (1, "finite and not negative"),
        "scale": (2, "finite and positive"),
    }
    for part in parts.values():
        if part.kind not in lowest:
            continue
        limit, expected = lowest[part.kind]
        at = kernel.call("scan_floats", base + part.offset, part.nbytes // 4, limit)
        if at >= 0:
            bits = kernel.read(base + part.offset + 4 * at, 4)
            value = memoryview(bits).cast("f")[0]
            raise ModelValueError(field=f"{part.name}[{at}]", found=value, expected=expected)


def _place_weights(header: Header, layout: Layout, base: int) -> Weights:
    d = header.d_model
    padded_output = round_up(header.output_dim, 4)
    table = codec(header.embedding_format)
    embedding = HEADER_BYTES
    row_bytes = table.row_bytes(d)

    def norm() -> Norm:
        return Norm(layout.place(4 * d), layout.place(4 * d))

    def linear(outputs: int, columns: int) -> Linear:
        padded = round_up(columns, BLOCK_COLUMNS)
        return Linear(
            layout.place(round_up(outputs, PANEL_OUTPUTS) * padded),
            layout.place(index_bytes(outputs, padded)),
            layout.place(4 * outputs),
            layout.place(4 * outputs),
            padded,
            outputs,
        )

    def layer() -> Layer:
        qkv = linear(3 * header.n_heads * padded_head(header), d)
        return Layer(
            norm(), qkv, linear(d, d), norm(), linear(header.ffn_dim, d), linear(d, header.ffn_dim)
        )

    return Weights(
        table=base + embedding,
        row_scale=base + embedding + header.vocab_size * row_bytes if table.has_row_scale else 0,
        row_bytes=row_bytes,
        layers=tuple(layer() for _ in range(header.n_layers)),
        ln_final=norm(),
        projection=layout.place(4 * d * padded_output),
        projection_bias=layout.place(4 * padded_output),
        padded_output=padded_output,
    )


def _prepare(
    kernel: Kernel, header: Header, base: int, parts: dict[str, Section], weights: Weights
) -> None:
    d, head, padded = header.d_model, header.d_head, padded_head(header)

    def at(name: str) -> int:
        return base + parts[name].offset

    def copy(target: int, name: str) -> None:
        kernel.call("copy", target, at(name), parts[name].nbytes)

    def norm(target: Norm, name: str) -> None:
        copy(target.gamma, name + ".weight")
        copy(target.beta, name + ".bias")

    def clear(target: Linear) -> None:
        size = round_up(target.outputs, PANEL_OUTPUTS) * target.columns
        kernel.call("fill_zero", target.weights, size)
        kernel.call("fill_zero", target.bias, 4 * target.outputs)

    def pack(
        target: Linear, name: str, rows: int, columns: int, place: tuple[int, int, int]
    ) -> None:
        matrix = (at(name + ".codes"), rows, columns)
        kernel.call("pack_panels", *matrix, target.weights, target.columns, *place)

    def index(target: Linear, names: list[str], columns: int, group: tuple[int, int]) -> None:
        """Of matrices of one shape, which lie equally far apart."""
        codes = [at(name + ".codes") for name in names]
        stride = codes[-1] - codes[-2] if len(codes) > 1 else 0
        each = target.outputs // len(names)
        to = (target.indexes, target.outputs, target.columns)
        kernel.call("pack_indexes", codes[0], stride, each, *group, columns, *to)

    def linear(target: Linear, name: str, rows: int, columns: int) -> None:
        clear(target)
        pack(target, name, rows, columns, (0, rows, rows))
        index(target, [name], columns, (rows, rows))
        kernel.call("fill_inverse", target.inverse_scale, rows, at(name + ".scale"))
        copy(target.bias, name + ".bias")

    for i, layer in enumerate(weights.layers):
        name = f"layers.{i}."
        norm(layer.ln_1, name + "ln_1")
        # q, k and v are one product; each head starts at a SIMD register of its row.
        clear(layer.qkv)
        width = header.n_heads * padded
        for j, part in enumerate(ATTENTION_PARTS):
            pack(layer.qkv, name + part, d, d, (j * width, head, padded))
            target = layer.qkv.inverse_scale + 4 * j * width
            kernel.call("fill_inverse", target, width, at(f"{name}{part}.scale"))
        index(layer.qkv, [name + part for part in ATTENTION_PARTS], d, (head, padded))
        linear(layer.out, name + "attn.out", d, d)
        norm(layer.ln_2, name + "ln_2")
        linear(layer.up, name + "ffn.up", header.ffn_dim, d)
        linear(layer.down, name + "ffn.down", d, header.ffn_dim)
    norm(weights.ln_final, "ln_final")
    padded_output = weights.padded_output
    kernel.call("fill_zero", weights.projection, 4 * d * padded_output)
    kernel.call(
        "pack_projection", at("out.weight"), header.output_dim, d, weights.projection, padded_output
    )
    kernel.call("fill_zero", weights.projection_bias, 4 * padded_output)
    copy(weights.projection_bias, "out.bias")
