"""What commands write: whole files or none, JSON Lines, arrays, and progress."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .._whole_file import whole_file


@contextmanager
def open_output(target: str) -> Iterator[BinaryIO]:
    """A file that takes its place only once it is complete; "-" is stdout.

    Devices and pipes are written to directly.
    """
    if target == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), target)
    with whole_file(path) as file:
        yield file


class JsonLines:
    """A line for each record, with its embedding."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, records: list[dict[str, Any]], vectors: NDArray[np.float32]) -> None:
        for record, vector in zip(records, vectors, strict=True):
            members = {key: value for key, value in record.items() if key != "embedding"}
            start = json.dumps(members, ensure_ascii=False)[:-1]
            # Nine digits give every float32 back.
            floats = ", ".join(["%.9g"] * len(vector)) % tuple(vector.tolist())
            comma = ", " if members else ""
            line = f'{start}{comma}"embedding": [{floats}]}}\n'
            self._file.write(line.encode("utf-8", "backslashreplace"))

    def finish(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Nothing to release."""


class NumpyArray:
    """A .npy file of float32 [n, dim]; n stands at its start and is known at the end."""

    def __init__(self, file: BinaryIO, dim: int) -> None:
        self._file = file
        self._rows = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._shape = (0, dim)

    def write(self, records: list[dict[str, Any]], vectors: NDArray[np.float32]) -> None:
        self._rows.write(vectors.astype("<f4", copy=False).tobytes())
        self._shape = (self._shape[0] + len(vectors), self._shape[1])

    def finish(self) -> None:
        header = {"descr": "<f4", "fortran_order": False, "shape": self._shape}
        np.lib.format.write_array_header_1_0(self._file, header)
        self._rows.seek(0)
        shutil.copyfileobj(self._rows, self._file, 1 << 20)

    def close(self) -> None:
        """Release the temporary file."""
        self._rows.close()


class Progress:
    """A line on stderr that counts up. `show` None: where stderr is a terminal."""

    def __init__(self, what: str, show: bool | None) -> None:
        self._what = what
        self._show = sys.stderr.isatty() if show is None else show
        self._began = False

    def __call__(self, done: int, total: int | None = None) -> None:
        if self._show:
            of = "" if total is None else f"/{total:,}"
            print(f"\r{self._what} {done:,}{of}", end="", file=sys.stderr, flush=True)
            self._began = True

    def end(self) -> None:
        if self._began:
            print(file=sys.stderr)
            self._began = False


def print_json(value: Any) -> None:
    """One line of JSON on stdout."""
    print(json.dumps(value, ensure_ascii=False))


def note(message: str) -> None:
    """A line on stderr."""
    print(f"tern-engine: {message}", file=sys.stderr)
