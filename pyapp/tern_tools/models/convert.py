"""`.bin` -> `.bin` with another table format. All but the table is copied byte for byte.

To fp32 the table is the exact f32(code * scale). To a quantized format it is that float table under
the format's own rule. To its own format nothing changes.
"""

from __future__ import annotations

from dataclasses import replace

from tern_engine.format import CHECKSUM_BYTES, sections, write_header

from .pack import Table, seal
from .unpack import UnpackedModel


def convert(data: bytes, embedding_format: str) -> bytes:
    """The model with its table in `embedding_format`; the same bytes if it is so already.

    Raises the ModelError of the first check that `data` fails, ModelEmbeddingFormatError for an
    unknown format.
    """
    model = UnpackedModel.from_bytes(data)
    header = replace(model.header, embedding_format=embedding_format)
    head = write_header(header)
    if embedding_format == model.header.embedding_format:
        return data
    table = Table(
        model.header.embedding_format,
        model.tensors["embedding"],
        model.tensors.get("embedding.scale"),
    ).to(embedding_format)
    after_table = next(s.offset for s in sections(model.header) if s.name == "layers.0.ln_1.weight")
    rest = data[after_table:-CHECKSUM_BYTES]
    return seal(head + b"".join(table.sections().values()) + rest)
