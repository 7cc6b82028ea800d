"""The JSON file beside a model: what it is and what it was made from, reproducibly.

No dates and no paths of the machine: the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tern_engine.format import CHECKSUM_BYTES, HEADER_BYTES, read_header, sections


def describe(data: bytes) -> dict[str, Any]:
    """Hashes, header fields and sizes of a model's bytes, as JSON types.

    `sha256`, of the whole file, is the fingerprint that every host reports.
    """
    header = read_header(data, len(data), build=None, vocab_size=None)
    layout = sections(header)
    table = sum(s.nbytes for s in layout if s.name.startswith("embedding"))
    return {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "header": asdict(header),
        "sizes": {
            "header": HEADER_BYTES,
            "embedding_table": table,
            "layers": sum(s.nbytes for s in layout if s.name.startswith("layers.")),
            "final_norm": sum(s.nbytes for s in layout if s.name.startswith("ln_final")),
            "output_projection": sum(s.nbytes for s in layout if s.name.startswith("out.")),
            "checksum": CHECKSUM_BYTES,
        },
    }


def training_record(source: Path) -> dict[str, Any] | None:
    """How a model's source was trained: from the metadata of an exported `.safetensors` file, or
    from the sidecar of a `.bin`, where it is that file's."""
    if source.suffix == ".bin" and source.with_suffix(".json").exists():
        beside = json.loads(source.with_suffix(".json").read_text("utf-8"))
        same = beside.get("sha256") == hashlib.sha256(source.read_bytes()).hexdigest()
        return beside.get("training") if same else None
    if source.suffix != ".safetensors":
        return None
    from safetensors import safe_open

    with safe_open(source, framework="numpy") as file:
        held = (file.metadata() or {}).get("training")
    return json.loads(held) if held else None


def write_model(
    path: Path, data: bytes, *, made_by: str, source: Path, notes: Sequence[str] = ()
) -> Path:
    """Write a model and its sidecar (same name, `.json`). Returns the sidecar's path.

    The sidecar of a model packed from an exported checkpoint carries its training's record.
    """
    training = training_record(source)
    source_bytes = source.read_bytes()
    record = {
        "file": path.name,
        **describe(data),
        "made_by": made_by,
        "source": {
            "file": source.name,
            "bytes": len(source_bytes),
            "sha256": hashlib.sha256(source_bytes).hexdigest(),
        },
        **({"training": training} if training else {}),
        "notes": list(notes),
    }
    path.write_bytes(data)
    sidecar = path.with_suffix(".json")
    sidecar.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return sidecar
