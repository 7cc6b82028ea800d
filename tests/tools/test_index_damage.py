"""All that can be wrong with an index file."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Callable
from typing import Any

import pytest
from tern_engine.errors import IndexFormatError, IndexStaleError
from tern_tools import SearchIndex

from tests.support.fake_index import GOLDEN, FakeEngine, cases, document


def sealed(file: bytes, change: Callable[[bytearray], None]) -> bytes:
    """The file after a change, with a checksum that fits it."""
    body = bytearray(file[:-32])
    change(body)
    blocks = [body[at : at + 2**20] for at in range(0, len(body), 2**20)]
    digests = b"".join(hashlib.sha256(block).digest() for block in blocks)
    return bytes(body) + hashlib.sha256(digests).digest()


@pytest.mark.parametrize("case", cases("index.json"), ids=lambda case: case["file"])
def test_any_byte_changed_any_length_cut(case: dict[str, Any]) -> None:
    engine = FakeEngine(case["dim"])
    file = (GOLDEN / case["file"]).read_bytes()
    for i in range(len(file)):
        changed = bytearray(file)
        changed[i] ^= 1 << i % 8
        with pytest.raises(IndexFormatError):
            SearchIndex.load(engine, changed)
    for length in [*range(200), *range(200, len(file), 37)]:
        with pytest.raises(IndexFormatError):
            SearchIndex.load(engine, file[: min(length, len(file) - 1)])
    with pytest.raises(IndexFormatError):
        SearchIndex.load(engine, file + b"\0")


def saved(kind: str = "float32") -> bytes:
    index = SearchIndex(FakeEngine(2), vectors=kind)
    index.add([document("a", "text one", title="T"), document("b", "text two")])
    return index.save()


def put(at: int, form: str, *values: Any) -> Callable[[bytearray], None]:
    return lambda body: struct.pack_into(form, body, at, *values)


def swap(old: bytes, new: bytes) -> Callable[[bytearray], None]:
    def change(body: bytearray) -> None:
        assert len(old) == len(new) and body.count(old) == 1
        body[:] = body.replace(old, new)

    return change


# Header 64, lengths 64–72, counts 72–80, ranges 80–96, then scales or vectors.
@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("float32", put(48, "<I", 0), "0 dimensions"),
        ("float32", put(52, "<I", 2), "passage tokens"),
        ("float32", put(72, "<II", 2, 1), "passages"),
        ("float32", put(80, "<I", 8), "reaches from"),
        ("float32", put(84, "<I", 9), "reaches from"),
        ("float32", put(96, "<f", math.inf), "not finite"),
        ("float32", put(100, "<f", math.nan), "not finite"),
        ("int8", put(96, "<f", -1.0), "scale"),
        ("int8", put(100, "<f", math.nan), "scale"),
        ("int8", put(104, "<b", -128), "-128"),
        ("float32", swap(b'"id":"b"', b'"id":"a"'), "two documents"),
        ("float32", swap(b'"id":"a"', b'"id": 12'), "canonical"),
        ("float32", swap(b'"title":"T"', b'"title":NaN'), "canonical"),
        ("float32", swap(b"text two", b"text\xfftwo"), "UTF-8"),
    ],
)
def test_sealed_damage(kind: str, change: Callable[[bytearray], None], message: str) -> None:
    with pytest.raises(IndexFormatError, match=message):
        SearchIndex.load(FakeEngine(2), sealed(saved(kind), change))


def test_an_index_of_another_model_is_stale() -> None:
    engine = FakeEngine(2)
    engine.fingerprint = "f" * 64
    with pytest.raises(IndexStaleError) as raised:
        SearchIndex.load(engine, saved())
    assert raised.value.code == "INDEX_STALE"
    with pytest.raises(IndexStaleError, match="dimensions"):
        SearchIndex.load(FakeEngine(3), saved())
