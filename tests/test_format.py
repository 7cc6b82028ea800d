"""Header and layout: sizes, bytes, every header check and their order."""

from __future__ import annotations

import struct
import sys
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tern_engine.embeddings import codec
from tern_engine.errors import ModelError, ModelOtherBuildError, TernError
from tern_engine.format import (
    EMBEDDING_FORMATS,
    HEADER_BYTES,
    Header,
    file_bytes,
    read_header,
    sections,
    write_header,
)

SHIPPED = Header("int4", 30522, 256, 2, 4, 1024, 384, 128)
SMALL = Header("int4", 50, 12, 1, 4, 20, 7, 16)


@pytest.mark.parametrize(
    ("embedding_format", "size"),
    [("int4", 4_839_512), ("int8", 8_746_328), ("ternary", 2_886_104), ("fp32", 32_065_136)],
)
def test_sizes_of_the_shipped_shape(embedding_format: str, size: int) -> None:
    assert file_bytes(replace(SHIPPED, embedding_format=embedding_format)) == size


def test_size_of_the_wide_shape() -> None:
    assert file_bytes(replace(SHIPPED, d_model=384, n_heads=6, ffn_dim=1536)) == 7_492_312


def test_header_bytes() -> None:
    data = write_header(SHIPPED)
    assert data == bytes.fromhex(
        "5445524e 0100 03 00 3a770000 0001 02 04 0004 8001 8000 00000000000000000000"
    )
    assert read_header(data, 4_839_512, build="int4", vocab_size=30522) == SHIPPED
    assert SHIPPED.d_head == 64


def test_layout_of_a_small_model() -> None:
    layout = [(s.name, s.nbytes, s.kind) for s in sections(SMALL)]
    assert layout == [
        ("embedding", 300, "int4"),
        ("embedding.scale", 200, "row_scale"),
        ("layers.0.ln_1.weight", 48, "f32"),
        ("layers.0.ln_1.bias", 48, "f32"),
        ("layers.0.attn.q.codes", 36, "codes"),
        ("layers.0.attn.q.scale", 4, "scale"),
        ("layers.0.attn.k.codes", 36, "codes"),
        ("layers.0.attn.k.scale", 4, "scale"),
        ("layers.0.attn.v.codes", 36, "codes"),
        ("layers.0.attn.v.scale", 4, "scale"),
        ("layers.0.attn.out.codes", 36, "codes"),
        ("layers.0.attn.out.scale", 4, "scale"),
        ("layers.0.attn.out.bias", 48, "f32"),
        ("layers.0.ln_2.weight", 48, "f32"),
        ("layers.0.ln_2.bias", 48, "f32"),
        ("layers.0.ffn.up.codes", 60, "codes"),
        ("layers.0.ffn.up.scale", 4, "scale"),
        ("layers.0.ffn.up.bias", 80, "f32"),
        ("layers.0.ffn.down.codes", 60, "codes"),
        ("layers.0.ffn.down.scale", 4, "scale"),
        ("layers.0.ffn.down.bias", 48, "f32"),
        ("ln_final.weight", 48, "f32"),
        ("ln_final.bias", 48, "f32"),
        ("out.weight", 336, "f32"),
        ("out.bias", 28, "f32"),
    ]


@pytest.mark.parametrize(
    ("embedding_format", "table"),
    [
        ("fp32", [("embedding", 2400, "f32")]),
        ("int8", [("embedding", 600, "int8"), ("embedding.scale", 200, "row_scale")]),
        ("ternary", [("embedding", 150, "codes"), ("embedding.scale", 200, "row_scale")]),
    ],
)
def test_tables_of_the_other_formats(
    embedding_format: str, table: list[tuple[str, int, str]]
) -> None:
    layout = sections(replace(SMALL, embedding_format=embedding_format))
    found = [(s.name, s.nbytes, s.kind) for s in layout]
    assert found[: len(table)] == table
    assert found[len(table)][0] == "layers.0.ln_1.weight"


def headers() -> st.SearchStrategy[Header]:
    """Any header that a reader takes."""
    return st.builds(
        lambda heads, width, ffn, **rest: Header(
            d_model=4 * heads * width, n_heads=heads, ffn_dim=4 * ffn, **rest
        ),
        heads=st.integers(1, 255),
        width=st.integers(1, 4),
        ffn=st.integers(1, 4096),
        embedding_format=st.sampled_from(list(EMBEDDING_FORMATS)),
        vocab_size=st.integers(1, 1 << 20),
        n_layers=st.integers(1, 64),
        output_dim=st.integers(1, 4096),
        max_seq_len=st.integers(3, 512),
    )


@given(headers())
def test_sections_are_contiguous_and_any_legal_header_comes_back(header: Header) -> None:
    layout = sections(header)
    end = HEADER_BYTES
    for section in layout:
        assert section.offset == end
        assert section.nbytes > 0
        end += section.nbytes
    assert file_bytes(header) == end + 32
    assert len({section.name for section in layout}) == len(layout)
    data = write_header(header)
    assert read_header(data, end + 32, build=None, vocab_size=None) == header


@given(st.binary(min_size=32, max_size=32), st.integers(0, 1 << 40))
def test_any_header_bytes_are_taken_or_refused_with_a_model_error(data: bytes, total: int) -> None:
    for first in (
        data,
        b"TERN\x01\x00" + data[6:],
        write_header(SMALL)[:8] + data[8:22] + bytes(10),
    ):
        try:
            header = read_header(first, total, build=None, vocab_size=None)
        except ModelError:
            continue
        assert file_bytes(header) == total


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


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_reads_any_bytes(view: type) -> None:
    data = view(write_header(SMALL))
    assert read_header(data, file_bytes(SMALL), build=None, vocab_size=None) == SMALL


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


@pytest.mark.parametrize("name", EMBEDDING_FORMATS)
def test_codec_and_format_agree(name: str) -> None:
    assert (codec(name).name, codec(name).tag) == (name, EMBEDDING_FORMATS[name])


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
