"""What a bulk run is to make: its parts, and the manifest that a later run is held against."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._check import check
from ..arrow import check_column
from ..parquet import open_parquet

ROWS_PER_PART = 8192
MANIFEST = "_manifest.json"  # readers of Parquet folders pass over names with _ and . in front
COMPLETE = "_SUCCESS"
_VERSION = 1


@dataclass(frozen=True)
class Part:
    """Rows start to stop of a file, and the name of the file that they become."""

    file: str
    start: int
    stop: int
    name: str


@dataclass(frozen=True)
class Job:
    """What every part has in common. Paths are absolute, and the same on all machines."""

    out: str
    columns: tuple[str, ...]  # that are read
    column: str
    kept: tuple[str, ...]  # that are written, the embeddings aside
    output: str
    model: str | None
    fingerprint: str


@dataclass(frozen=True)
class Input:
    """A file to be embedded, as it was when the run began."""

    path: Path
    rows: int
    bytes: int
    sha256: str

    def check_unchanged(self) -> None:
        """InvalidInputError when the file is another by now."""
        found = self.path.stat().st_size
        same = found == self.bytes and _sha256(self.path) == self.sha256
        check(same, f"{self.path} changed while it was read: remove the output and run again")


def read_inputs(source: Path, column: str) -> tuple[list[Input], Any]:
    """The files of a run, one or those of a folder by name, and the schema that all have.

    Raises InvalidInputError for what is not Parquet or lacks the column, OSError.
    """
    paths = [source]
    if source.is_dir():
        paths = sorted(path for path in source.glob("*.parquet") if path.name[0] not in "._")
        check(paths, f"{source} holds no .parquet files")
    inputs: list[Input] = []
    schema = None
    for path in paths:
        with open_parquet(path) as file:
            rows, found = file.metadata.num_rows, file.schema_arrow
        if schema is None:
            schema = found
            check_column(schema, column, f"{path}: ")
        check(found.equals(schema), f"{path} has other columns than {paths[0]}")
        inputs.append(Input(path.resolve(), rows, path.stat().st_size, _sha256(path)))
    return inputs, schema


def cut_parts(inputs: Sequence[Input], rows_per_part: int) -> list[Part]:
    """The parts of the inputs, in order; one without rows where there are none."""
    ranges = [
        (each, start, min(start + rows_per_part, each.rows))
        for each in inputs
        for start in range(0, each.rows, rows_per_part)
    ] or [(inputs[0], 0, 0)]
    return [
        Part(str(each.path), start, stop, f"part-{number:05d}.parquet")
        for number, (each, start, stop) in enumerate(ranges)
    ]


def make_manifest(inputs: Sequence[Input], job: Job, rows_per_part: int) -> dict[str, Any]:
    """Everything that the output's bytes depend on, but for the version of pyarrow."""
    return {
        "version": _VERSION,
        "input": [{**asdict(each), "path": each.path.name} for each in inputs],
        "column": job.column,
        "kept": list(job.kept),
        "output": job.output,
        "rows_per_part": rows_per_part,
        "fingerprint": job.fingerprint,
    }


def check_manifest(folder: Path, manifest: dict[str, Any]) -> bool:
    """Whether the folder holds a run of this manifest; else it is empty, or not there.

    InvalidInputError for a folder with anything else.
    """
    path = folder / MANIFEST
    if not path.exists():
        check(
            not folder.exists() or not any(folder.iterdir()),
            f"{folder} holds other files: expected an empty folder, or that of an earlier run",
        )
        return False
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError:
        found = None
    check(isinstance(found, dict), f"{path} is damaged: expected the manifest of a bulk run")
    for key, expected in manifest.items():
        check(
            found.get(key) == expected,
            f"{folder} is the output of another run: {key} is {_short(found.get(key))}, now "
            f"{_short(expected)}",
        )
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 160 else f"{text[:159]}…"
