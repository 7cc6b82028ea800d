"""Header and layout: sizes and bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tern_engine.embeddings import codec
from tern_engine.errors import ModelError
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


@pytest.mark.parametrize("view", [bytes, bytearray, memoryview])
def test_reads_any_bytes(view: type) -> None:
    data = view(write_header(SMALL))
    assert read_header(data, file_bytes(SMALL), build=None, vocab_size=None) == SMALL


@pytest.mark.parametrize("name", EMBEDDING_FORMATS)
def test_codec_and_format_agree(name: str) -> None:
    assert (codec(name).name, codec(name).tag) == (name, EMBEDDING_FORMATS[name])
