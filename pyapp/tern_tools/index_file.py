"""The index as one file: docs/index-format.md."""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import IndexFormatError, IndexStaleError, InvalidInputError

from .documents import Document, document_record, parse_record
from .sentences import Range
from .vectors import Float32Table, Int8Table, Table, VectorKind

MAGIC = b"TERNIDX\n"
VERSION = 1
CHECKSUM_BYTES = 32
MIN_PASSAGE_TOKENS = 3
MAX_PASSAGE_TOKENS = 2**31 - 1
MAX_DIM = 65535

_HEADER = struct.Struct("<8sII32sIIII")
_BLOCK = 1 << 20
_KINDS: tuple[VectorKind, ...] = ("float32", "int8")


@dataclass
class IndexContent:
    """What a file holds. ranges: of each document's passages, which are rows of `table`."""

    fingerprint: str
    passage_tokens: int
    documents: list[Document]
    ranges: list[list[Range]]
    table: Table


def write_index(content: IndexContent) -> bytes:
    """The file."""
    records = [document_record(document) for document in content.documents]
    counts = [len(found) for found in content.ranges]
    offsets = [offset for found in content.ranges for part in found for offset in part]
    scales, vectors = content.table.sections()
    header = _HEADER.pack(
        MAGIC,
        VERSION,
        _KINDS.index(content.table.kind),
        bytes.fromhex(content.fingerprint),
        content.table.dim,
        content.passage_tokens,
        len(records),
        len(content.table),
    )
    lengths = [len(record) for record in records]
    integers = np.array([*lengths, *counts, *offsets], "<u4").tobytes()
    body = b"".join([header, integers, scales, vectors, *records])
    return body + _checksum(memoryview(body))


def read_index(file: Any, fingerprint: str, dim: int) -> IndexContent:
    """The content of a file, a bytes-like, of the model with this fingerprint and dimension.

    Raises IndexFormatError for a damaged file, IndexStaleError for one of another model,
    InvalidInputError for what is no bytes-like.
    """
    data = _bytes_of(file)
    header = read_index_header(data)
    n, p = header.documents, header.passages
    at_ranges = _HEADER.size + 8 * n
    at_scales = at_ranges + 8 * p
    at_vectors = at_scales + (4 * p if header.kind == "int8" else 0)
    at_records = at_vectors + p * header.dim * (1 if header.kind == "int8" else 4)
    end = len(data) - CHECKSUM_BYTES
    least = at_records + CHECKSUM_BYTES
    _check(at_records <= end, f"the file has {len(data)} bytes, its header implies {least} or more")
    integers = np.frombuffer(data, "<u4", 2 * n + 2 * p, _HEADER.size)
    lengths, counts = integers[:n].tolist(), integers[n : 2 * n].tolist()
    implied = least + sum(lengths)
    _check(implied == len(data), f"the file has {len(data)} bytes, its lengths imply {implied}")
    found, expected = data[end:].hex(), _checksum(data[:end]).hex()
    _check(found == expected, f"the checksum is {found}, that of the content is {expected}")
    if header.fingerprint != fingerprint:
        raise _stale(f"it was made with the model {header.fingerprint}, not {fingerprint}")
    if header.dim != dim:
        raise _stale(f"it has {header.dim} dimensions, the engine's vectors have {dim}")

    ranges = _split_ranges(integers[2 * n :].reshape(p, 2), counts)
    documents = _read_documents(data[at_records:end], lengths)
    for i, document in enumerate(documents):
        _check_ranges(ranges[i], len(document.text), i)
    if header.kind == "int8":
        scales = np.frombuffer(data, "<f4", p, at_scales)
        codes = np.frombuffer(data, np.int8, p * dim, at_vectors).reshape(p, dim)
        table: Table = _int8_table(codes, scales)
    else:
        table = _float32_table(np.frombuffer(data, "<f4", p * dim, at_vectors).reshape(p, dim))
    return IndexContent(header.fingerprint, header.passage_tokens, documents, ranges, table)


@dataclass(frozen=True)
class IndexHeader:
    """The first 64 bytes."""

    kind: VectorKind
    fingerprint: str
    dim: int
    passage_tokens: int
    documents: int
    passages: int


def _bytes_of(file: Any) -> memoryview:
    try:
        return memoryview(file).cast("B")
    except TypeError:
        raise InvalidInputError(
            field="file", found=type(file).__name__, expected="the bytes of an index, not its path"
        ) from None


def read_index_header(file: Any) -> IndexHeader:
    """The header of a file, a bytes-like that may be cut after 96 bytes. IndexFormatError."""
    data = _bytes_of(file)
    least = _HEADER.size + CHECKSUM_BYTES
    _check(len(data) >= least, f"the file has {len(data)} bytes, expected {least} or more")
    magic, version, kind, fingerprint, dim, tokens, n, p = _HEADER.unpack_from(data)
    _check(magic == MAGIC, f"the file starts with {magic.hex()}, expected {MAGIC.hex()}")
    _check(version == VERSION, f"the file has version {version}, expected {VERSION}")
    _check(kind < len(_KINDS), f"the vector kind is {kind}, expected 0 (float32) or 1 (int8)")
    _check(1 <= dim <= MAX_DIM, f"there are {dim} dimensions, expected 1 to {MAX_DIM}")
    _check(
        MIN_PASSAGE_TOKENS <= tokens <= MAX_PASSAGE_TOKENS,
        f"the passage tokens are {tokens}, expected {MIN_PASSAGE_TOKENS} to {MAX_PASSAGE_TOKENS}",
    )
    return IndexHeader(_KINDS[kind], fingerprint.hex(), dim, tokens, n, p)


def _split_ranges(parts: NDArray[Any], counts: list[int]) -> list[list[Range]]:
    total = sum(counts)
    _check(
        total == len(parts), f"the documents have {total} passages, the header says {len(parts)}"
    )
    pairs = [(start, end) for start, end in parts.tolist()]
    split, at = [], 0
    for count in counts:
        split.append(pairs[at : at + count])
        at += count
    return split


def _read_documents(records: memoryview, lengths: list[int]) -> list[Document]:
    documents = []
    ids = set()
    at = 0
    for i, length in enumerate(lengths):
        try:
            document = parse_record(bytes(records[at : at + length]))
        except UnicodeDecodeError:
            raise _damaged(f"record {i} is not UTF-8") from None
        if document is None:
            raise _damaged(f"record {i} is not the canonical text of a document")
        _check(document.id not in ids, f"two documents have the id {document.id}")
        ids.add(document.id)
        documents.append(document)
        at += length
    return documents


def _check_ranges(ranges: list[Range], length: int, i: int) -> None:
    last = 0
    for j, (start, end) in enumerate(ranges):
        _check(
            last <= start < end <= length,
            f"passage {j} of document {i} reaches from {start} to {end} in a text of {length}",
        )
        last = end


def _float32_table(vectors: NDArray[np.float32]) -> Float32Table:
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    _check(len(bad) == 0, f"vector {bad[:1].tolist()} has an element that is not finite")
    return Float32Table(vectors.astype(np.float32, copy=False))


def _int8_table(codes: NDArray[np.int8], scales: NDArray[np.float32]) -> Int8Table:
    bad = np.flatnonzero(~(np.isfinite(scales) & (scales >= 0)))
    _check(len(bad) == 0, f"scale {bad[:1].tolist()} is negative or not finite")
    bad = np.flatnonzero((codes == -128).any(axis=1))
    _check(len(bad) == 0, f"vector {bad[:1].tolist()} has the code -128")
    return Int8Table(codes, scales.astype(np.float32, copy=False))


def _checksum(data: memoryview) -> bytes:
    """SHA-256 over the SHA-256 of each block."""
    blocks = (data[at : at + _BLOCK] for at in range(0, len(data), _BLOCK))
    return hashlib.sha256(b"".join(hashlib.sha256(block).digest() for block in blocks)).digest()


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise _damaged(message)


def _damaged(message: str) -> IndexFormatError:
    return IndexFormatError(f"the index cannot be read: {message}")


def _stale(message: str) -> IndexStaleError:
    return IndexStaleError(f"the index has to be made again: {message}")
