"""Model files: float tensors to `.bin`, and back, and the numpy reference of the forward pass.

    pack.py            float tensors, or an already quantized table, -> .bin
    convert.py         .bin -> .bin with another table format
    unpack.py          .bin -> tensors -> vector: the reference that the engine is held against
    verify.py          the engine against the reference over texts
    sidecar.py         the JSON file beside a model
    codes.py           small integers in bytes, and the quantization rules
    engine_process.py  an engine build in a process of its own

safetensors is needed for `.safetensors` files only (the extra `models`).
"""

from __future__ import annotations

from pathlib import Path

from tern_engine import embeddings

# An installed engine carries the layout of its own table format only. This package's wheel brings
# those of all four, the same files, and the engine's codec() looks here after its own folder.
_TABLES = str(Path(__file__).with_name("tables"))
if _TABLES not in embeddings.__path__:
    embeddings.__path__.append(_TABLES)
