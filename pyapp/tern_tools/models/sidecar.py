"""The JSON file beside a model: what it is and what it was made from, reproducibly.

No dates and no paths of the machine: the same input gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tern_engine.errors import InvalidInputError
from tern_engine.format import CHECKSUM_BYTES, HEADER_BYTES, read_header, sections

from .._check import check
from .._whole_file import check_target, whole_file
from .pack import open_safetensors


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
    from the sidecar of a `.bin`, where it is that file's. Raises InvalidInputError, OSError."""
    if source.suffix == ".bin" and source.with_suffix(".json").exists():
        beside = _json_object(source.with_suffix(".json").read_bytes(), source.with_suffix(".json"))
        same = beside.get("sha256") == hashlib.sha256(source.read_bytes()).hexdigest()
        return beside.get("training") if same else None
    if source.suffix != ".safetensors":
        return None
    with open_safetensors(source) as file:
        held = (file.metadata() or {}).get("training")
    return _json_object(held, f"{source}: training") if held else None


def write_model(
    path: Path, data: bytes, *, made_by: str, source: Path, notes: Sequence[str] = ()
) -> Path:
    """Write a model and its sidecar (same name, `.json`), both or none. Returns the sidecar's path.

    The sidecar of a model packed from an exported checkpoint carries its training's record.
    Raises InvalidInputError for a name that ends in .json, OSError.
    """
    sidecar = path.with_suffix(".json")
    check(path != sidecar, f"{path}: expected another ending, as the file beside it is the .json")
    check_target(path)
    check_target(sidecar)
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
    with whole_file(sidecar) as beside, whole_file(path) as model:
        # Both are whole before the model takes its place, and the sidecar follows it.
        beside.write(f"{json.dumps(record, indent=2)}\n".encode())
        beside.flush()
        os.fsync(beside.fileno())
        model.write(data)
    return sidecar


def _json_object(text: str | bytes, name: object) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{name} is not JSON: {error}") from None
    check(isinstance(found, dict), f"{name} is not a JSON object")
    result: dict[str, Any] = found
    return result
