"""The `.bin` model file, format version 1: the single place that knows its layout.

All little-endian. Offsets follow from the header alone:

    0   magic             4 bytes  b"TERN"
    4   format_version    u16      1
    6   embedding_format  u8       0 fp32, 1 int8, 2 ternary, 3 int4
    7   weights_format    u8       0 (ternary)
    8   vocab_size        u32      1 ... 1,048,576
    12  d_model           u16      4 ... 4096, divisible by 4 and by n_heads
    14  n_layers          u8       1 ... 64
    15  n_heads           u8       1 ... 255
    16  ffn_dim           u16      4 ... 16384, divisible by 4
    18  output_dim        u16      1 ... 4096
    20  max_seq_len       u16      3 ... 512
    22  reserved         10 bytes  zero
    32  sections          see sections()
    -32 trailer                    SHA-256 of every byte before it

The limits are well above any model meant for a browser. They keep a damaged header from
asking for absurd work, and every size below them is exact in Python's integers. A float section
need not start at a multiple of four: ternary and int4 rows may leave an even offset behind.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .embeddings import codec
from .errors import (
    ModelEmbeddingFormatError,
    ModelLengthError,
    ModelMagicError,
    ModelOtherBuildError,
    ModelReservedError,
    ModelShapeError,
    ModelTooShortError,
    ModelVersionError,
    ModelVocabularyError,
    ModelWeightsFormatError,
)

MAGIC = b"TERN"
FORMAT_VERSION = 1
WEIGHTS_TERNARY = 0
HEADER_BYTES = 32
CHECKSUM_BYTES = 32

# Every format there is, not only this build's, so that another build's model is told from damage.
EMBEDDING_FORMATS: dict[str, int] = {"fp32": 0, "int8": 1, "ternary": 2, "int4": 3}

MAX_VOCAB_SIZE = 1 << 20
MAX_D_MODEL = 4096
MAX_LAYERS = 64
MAX_HEADS = 255
MAX_FFN_DIM = 16384
MAX_OUTPUT_DIM = 4096
MIN_SEQ_LEN = 3
MAX_SEQ_LEN = 512

_HEADER = struct.Struct("<4sHBBIHBBHHH10s")
_NAMES = {tag: name for name, tag in EMBEDDING_FORMATS.items()}


@dataclass(frozen=True)
class Header:
    """The dimensions of a model. `embedding_format` is one of EMBEDDING_FORMATS."""

    embedding_format: str
    vocab_size: int
    d_model: int
    n_layers: int
    n_heads: int
    ffn_dim: int
    output_dim: int
    max_seq_len: int

    @property
    def d_head(self) -> int:
        return self.d_model // self.n_heads


@dataclass(frozen=True)
class Section:
    """A run of equal elements in the file.

    kind: "codes"      2-bit ternary codes, four a byte
          "int4"       nibbles, two a byte
          "int8"       signed bytes
          "f32"        parameters, each finite
          "row_scale"  f32, each finite and >= 0
          "scale"      one f32, finite and > 0
    """

    name: str
    offset: int
    nbytes: int
    kind: str


def read_header(
    first: bytes | bytearray | memoryview,
    total_bytes: int,
    *,
    build: str | None,
    vocab_size: int | None,
) -> Header:
    """Check a model's header against the file's length, and return it.

    first        at least the file's first HEADER_BYTES bytes
    total_bytes  length of the whole file
    build        the one table format that is accepted; None takes any that has a codec here
    vocab_size   the tokenizer's; None takes any

    Allocates nothing that depends on the file. Raises the ModelError of the first check that
    fails, in the order of the classes in errors.py, up to and with ModelLengthError. The checksum,
    the codes and the values remain to be checked over the whole file.
    """
    shortest = HEADER_BYTES + CHECKSUM_BYTES
    if total_bytes < shortest or len(first) < HEADER_BYTES:
        raise ModelTooShortError(
            field="file length",
            found=f"{min(total_bytes, len(first))} bytes",
            expected=f"at least {shortest} (header and checksum)",
        )
    (
        magic,
        version,
        table_tag,
        weights_tag,
        vocab,
        d_model,
        n_layers,
        n_heads,
        ffn_dim,
        output_dim,
        max_seq_len,
        reserved,
    ) = _HEADER.unpack_from(first)
    if magic != MAGIC:
        raise ModelMagicError(field="magic", found=repr(magic), expected=repr(MAGIC))
    if version != FORMAT_VERSION:
        raise ModelVersionError(field="format_version", found=version, expected=FORMAT_VERSION)
    if table_tag not in _NAMES:
        known = ", ".join(f"{tag} ({name})" for tag, name in _NAMES.items())
        raise ModelEmbeddingFormatError(
            field="embedding_format", found=table_tag, expected=f"one of {known}"
        )
    if weights_tag != WEIGHTS_TERNARY:
        raise ModelWeightsFormatError(
            field="weights_format", found=weights_tag, expected=f"{WEIGHTS_TERNARY} (ternary)"
        )
    if reserved != bytes(10):
        raise ModelReservedError(
            field="reserved header bytes 22 to 31", found=reserved.hex(), expected="all zero"
        )
    header = Header(
        _NAMES[table_tag], vocab, d_model, n_layers, n_heads, ffn_dim, output_dim, max_seq_len
    )
    _check_shape(header)
    if build is not None and header.embedding_format != build:
        raise ModelOtherBuildError(
            field="embedding_format",
            found=header.embedding_format,
            expected=f"{build}, the format of this build "
            f"(tern-engine-emb-{header.embedding_format} reads this model)",
        )
    codec(header.embedding_format)
    if vocab_size is not None and vocab != vocab_size:
        raise ModelVocabularyError(
            field="vocab_size", found=vocab, expected=f"{vocab_size}, the tokenizer's"
        )
    implied = file_bytes(header)
    if total_bytes != implied:
        raise ModelLengthError(
            field="file length",
            found=f"{total_bytes} bytes",
            expected=f"{implied}, which the header implies",
        )
    return header


def write_header(header: Header) -> bytes:
    """The 32 header bytes. Raises as read_header does for a header that it would refuse."""
    if header.embedding_format not in EMBEDDING_FORMATS:
        raise ModelEmbeddingFormatError(
            field="embedding_format",
            found=header.embedding_format,
            expected=f"one of {', '.join(EMBEDDING_FORMATS)}",
        )
    _check_shape(header)
    return _HEADER.pack(
        MAGIC,
        FORMAT_VERSION,
        EMBEDDING_FORMATS[header.embedding_format],
        WEIGHTS_TERNARY,
        header.vocab_size,
        header.d_model,
        header.n_layers,
        header.n_heads,
        header.ffn_dim,
        header.output_dim,
        header.max_seq_len,
        bytes(10),
    )


def sections(header: Header) -> list[Section]:
    """Every section between header and trailer, in file order.

    Names are those of the float tensors that they were packed from, with ".codes" and ".scale" in
    place of ".weight" for a ternary matrix, "embedding" and "embedding.scale" for the table.
    Matrices are row-major [out_features, in_features].
    """
    d, ffn = header.d_model, header.ffn_dim
    table = codec(header.embedding_format)
    layout: list[tuple[str, int, str]] = [
        ("embedding", header.vocab_size * table.row_bytes(d), table.code_kind)
    ]
    if table.has_row_scale:
        layout.append(("embedding.scale", 4 * header.vocab_size, "row_scale"))
    for i in range(header.n_layers):
        at = f"layers.{i}."
        layout += _norm(at + "ln_1", d)
        for name in ("q", "k", "v"):
            layout += _bit_linear(f"{at}attn.{name}", d, d)
        layout += _bit_linear(at + "attn.out", d, d, bias=True)
        layout += _norm(at + "ln_2", d)
        layout += _bit_linear(at + "ffn.up", ffn, d, bias=True)
        layout += _bit_linear(at + "ffn.down", d, ffn, bias=True)
    layout += _norm("ln_final", d)
    layout.append(("out.weight", 4 * header.output_dim * d, "f32"))
    layout.append(("out.bias", 4 * header.output_dim, "f32"))

    placed = []
    offset = HEADER_BYTES
    for name, nbytes, kind in layout:
        placed.append(Section(name, offset, nbytes, kind))
        offset += nbytes
    return placed


def file_bytes(header: Header) -> int:
    """Length of the whole file, trailer included."""
    last = sections(header)[-1]
    return last.offset + last.nbytes + CHECKSUM_BYTES


def _norm(name: str, d: int) -> list[tuple[str, int, str]]:
    return [(name + ".weight", 4 * d, "f32"), (name + ".bias", 4 * d, "f32")]


def _bit_linear(
    name: str, n_out: int, n_in: int, *, bias: bool = False
) -> list[tuple[str, int, str]]:
    # n_in is a multiple of four, so no byte of codes spans two rows.
    parts = [(name + ".codes", n_out * n_in // 4, "codes"), (name + ".scale", 4, "scale")]
    return [*parts, (name + ".bias", 4 * n_out, "f32")] if bias else parts


def _check_shape(header: Header) -> None:
    limits = {
        "vocab_size": (1, MAX_VOCAB_SIZE),
        "d_model": (1, MAX_D_MODEL),
        "n_layers": (1, MAX_LAYERS),
        "n_heads": (1, MAX_HEADS),
        "ffn_dim": (1, MAX_FFN_DIM),
        "output_dim": (1, MAX_OUTPUT_DIM),
        "max_seq_len": (MIN_SEQ_LEN, MAX_SEQ_LEN),
    }
    for field, (low, high) in limits.items():
        found = getattr(header, field)
        if not low <= found <= high:
            raise ModelShapeError(field=field, found=found, expected=f"{low} to {high}")
    for field, what, divisor in (
        ("d_model", "4", 4),
        ("d_model", f"n_heads ({header.n_heads})", header.n_heads),
        ("ffn_dim", "4", 4),
    ):
        found = getattr(header, field)
        if found % divisor:
            raise ModelShapeError(field=field, found=found, expected=f"a multiple of {what}")
