"""Every header check, its message, and their order."""

from __future__ import annotations

import struct
import sys
import tracemalloc
from dataclasses import replace

import pytest
from tern_engine.embeddings import codec
from tern_engine.errors import ModelError, ModelOtherBuildError, TernError
from tern_engine.format import (
    EMBEDDING_FORMATS,
    HEADER_BYTES,
    Header,
    file_bytes,
    read_header,
    write_header,
)

SMALL = Header("int4", 50, 12, 1, 4, 20, 7, 16)


def field(offset: int, layout: str, value: object) -> tuple[int, bytes]:
    return offset, struct.pack(layout, value)


REFUSED = [
    # name, (offset, bytes), code, words in the message
    ("magic", (0, b"tern"), "MODEL_MAGIC", ("magic", "b'tern'", "b'TERN'")),
    ("magic reversed", (0, b"NRET"), "MODEL_MAGIC", ("magic", "b'NRET'", "b'TERN'")),
    ("a ZIP", (0, b"PK\x03\x04"), "MODEL_MAGIC", ("magic", "PK", "b'TERN'")),
    ("version 0", field(4, "<H", 0), "MODEL_VERSION", ("format_version is 0", "expected 1")),
    ("version 2", field(4, "<H", 2), "MODEL_VERSION", ("format_version is 2", "expected 1")),
    ("big-endian 1", field(4, ">H", 1), "MODEL_VERSION", ("format_version is 256", "expected 1")),
    (
        "table 4",
        field(6, "B", 4),
        "MODEL_EMBEDDING_FORMAT",
        ("embedding_format is 4", "0 (fp32), 1 (int8), 2 (ternary), 3 (int4)"),
    ),
    ("table 255", field(6, "B", 255), "MODEL_EMBEDDING_FORMAT", ("embedding_format is 255",)),
    ("weights 1", field(7, "B", 1), "MODEL_WEIGHTS_FORMAT", ("weights_format is 1", "0 (ternary)")),
    *[
        (
            f"reserved {at}",
            (at, b"\x01"),
            "MODEL_RESERVED",
            ("reserved", "00" * (at - 22) + "01", "zero"),
        )
        for at in range(22, 32)
    ],
    ("no tokens", field(8, "<I", 0), "MODEL_SHAPE", ("vocab_size is 0", "1 to 1048576")),
    ("vocab", field(8, "<I", (1 << 20) + 1), "MODEL_SHAPE", ("vocab_size is 1048577", "1048576")),
    ("vocab max", field(8, "<I", (1 << 32) - 1), "MODEL_SHAPE", ("vocab_size is 4294967295",)),
    ("d_model 0", field(12, "<H", 0), "MODEL_SHAPE", ("d_model is 0", "1 to 4096")),
    ("d_model max", field(12, "<H", 65535), "MODEL_SHAPE", ("d_model is 65535", "1 to 4096")),
    ("d_model 4100", field(12, "<H", 4100), "MODEL_SHAPE", ("d_model is 4100", "1 to 4096")),
    ("d_model 14", field(12, "<H", 14), "MODEL_SHAPE", ("d_model is 14", "a multiple of 4")),
    ("heads 5", field(15, "B", 5), "MODEL_SHAPE", ("d_model is 12", "a multiple of n_heads (5)")),
    ("heads 24", field(15, "B", 24), "MODEL_SHAPE", ("d_model is 12", "n_heads (24)")),
    ("heads 0", field(15, "B", 0), "MODEL_SHAPE", ("n_heads is 0", "1 to 255")),
    ("layers 0", field(14, "B", 0), "MODEL_SHAPE", ("n_layers is 0", "1 to 64")),
    ("layers 65", field(14, "B", 65), "MODEL_SHAPE", ("n_layers is 65", "1 to 64")),
    ("ffn 0", field(16, "<H", 0), "MODEL_SHAPE", ("ffn_dim is 0", "1 to 16384")),
    ("ffn 22", field(16, "<H", 22), "MODEL_SHAPE", ("ffn_dim is 22", "a multiple of 4")),
    ("ffn 16388", field(16, "<H", 16388), "MODEL_SHAPE", ("ffn_dim is 16388", "1 to 16384")),
    ("out 0", field(18, "<H", 0), "MODEL_SHAPE", ("output_dim is 0", "1 to 4096")),
    ("out 4097", field(18, "<H", 4097), "MODEL_SHAPE", ("output_dim is 4097", "1 to 4096")),
    ("seq 0", field(20, "<H", 0), "MODEL_SHAPE", ("max_seq_len is 0", "3 to 512")),
    ("seq 2", field(20, "<H", 2), "MODEL_SHAPE", ("max_seq_len is 2", "3 to 512")),
    ("seq 513", field(20, "<H", 513), "MODEL_SHAPE", ("max_seq_len is 513", "3 to 512")),
    (
        "table fp32",
        field(6, "B", 0),
        "MODEL_OTHER_BUILD",
        ("embedding_format is fp32", "expected int4", "tern-engine-emb-fp32"),
    ),
    ("table int8", field(6, "B", 1), "MODEL_OTHER_BUILD", ("embedding_format is int8", "int4")),
    ("table ternary", field(6, "B", 2), "MODEL_OTHER_BUILD", ("embedding_format is ternary",)),
    ("vocab 51", field(8, "<I", 51), "MODEL_VOCABULARY", ("vocab_size is 51", "expected 50")),
    ("vocab 49", field(8, "<I", 49), "MODEL_VOCABULARY", ("vocab_size is 49", "expected 50")),
    ("d_model 16", field(12, "<H", 16), "MODEL_LENGTH", ("file length is 1680", "expected ")),
    ("layers 2", field(14, "B", 2), "MODEL_LENGTH", ("file length is 1680 bytes", "expected ")),
    ("ffn 24", field(16, "<H", 24), "MODEL_LENGTH", ("file length is 1680 bytes", "expected 1720")),
    ("out 8", field(18, "<H", 8), "MODEL_LENGTH", ("file length is 1680 bytes", "expected 1732")),
]


@pytest.mark.parametrize(
    ("patch", "code", "words"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_refused(patch: tuple[int, bytes], code: str, words: tuple[str, ...]) -> None:
    offset, replacement = patch
    data = bytearray(write_header(SMALL))
    data[offset : offset + len(replacement)] = replacement
    with pytest.raises(ModelError) as caught:
        read_header(data, file_bytes(SMALL), build="int4", vocab_size=50)
    assert caught.value.code == code
    assert str(caught.value).startswith("tern-engine: ")
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("length", [0, 1, 3, 4, 31, 32, 33, 63])
def test_shorter_than_header_and_checksum(length: int) -> None:
    data = write_header(SMALL) + bytes(32)
    with pytest.raises(ModelError) as caught:
        read_header(data[:length], length, build=None, vocab_size=None)
    assert caught.value.code == "MODEL_TOO_SHORT"
    assert f"file length is {length} bytes, expected at least 64" in str(caught.value)


@pytest.mark.parametrize("change", [-1616, -32, -1, 1, 32, 1 << 40])
def test_another_length_than_the_header_implies(change: int) -> None:
    total = file_bytes(SMALL)
    with pytest.raises(ModelError) as caught:
        read_header(write_header(SMALL), total + change, build=None, vocab_size=None)
    assert caught.value.code == "MODEL_LENGTH"
    assert f"{total + change} bytes, expected {total}" in str(caught.value)


def test_the_first_failing_check_is_reported() -> None:
    """A header wrong in every field, mended in the order of the contract."""
    good = write_header(SMALL)
    data = bytearray(b"\xff" * HEADER_BYTES)
    data[6] = 9
    total = 10

    def code() -> str | None:
        try:
            read_header(data, total, build="int8", vocab_size=49)
        except ModelError as error:
            return error.code
        return None

    assert code() == "MODEL_TOO_SHORT"
    total = 1000
    for part, wanted in [
        (slice(0, 0), "MODEL_MAGIC"),
        (slice(0, 4), "MODEL_VERSION"),
        (slice(4, 6), "MODEL_EMBEDDING_FORMAT"),
        (slice(6, 7), "MODEL_WEIGHTS_FORMAT"),
        (slice(7, 8), "MODEL_RESERVED"),
        (slice(22, 32), "MODEL_SHAPE"),
        (slice(8, 22), "MODEL_OTHER_BUILD"),
    ]:
        data[part] = good[part]
        assert code() == wanted
    data[6] = EMBEDDING_FORMATS["int8"]
    assert code() == "MODEL_VOCABULARY"
    data[8] = 49
    assert code() == "MODEL_LENGTH"
    total = file_bytes(replace(SMALL, embedding_format="int8", vocab_size=49))
    assert code() is None


def test_the_largest_header_costs_nothing() -> None:
    largest = Header("fp32", 1 << 20, 4096, 64, 64, 16384, 4096, 512)
    data = write_header(largest)
    tracemalloc.start()
    try:
        with pytest.raises(ModelError) as caught:
            read_header(data, 64, build=None, vocab_size=None)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "MODEL_LENGTH"
    assert file_bytes(largest) > 1 << 34
    assert peak < 1 << 20


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"embedding_format": "int2"}, "MODEL_EMBEDDING_FORMAT"),
        ({"n_layers": 0}, "MODEL_SHAPE"),
        ({"d_model": 10}, "MODEL_SHAPE"),
        ({"max_seq_len": 1000}, "MODEL_SHAPE"),
        ({"output_dim": -1}, "MODEL_SHAPE"),
    ],
)
def test_writer_refuses_what_a_reader_would(change: dict[str, object], code: str) -> None:
    with pytest.raises(TernError) as caught:
        write_header(replace(SMALL, **change))  # type: ignore[arg-type]
    assert caught.value.code == code


def test_a_format_whose_codec_is_not_installed_is_another_builds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(ModelOtherBuildError, match="tern-engine-emb-int2"):
        codec("int2")
    # None in sys.modules makes the import system say "no such module".
    monkeypatch.setitem(sys.modules, "tern_engine.embeddings._int8", None)
    other = replace(SMALL, embedding_format="int8")
    with pytest.raises(ModelOtherBuildError, match="tern-engine-emb-int8"):
        read_header(write_header(other), 100, build=None, vocab_size=None)
