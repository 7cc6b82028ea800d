"""What an embed that was ended had done, kept beside its output for the next one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..search_types import BatchEngine

_DIGEST_BYTES = 16


class ResumedEngine:
    """An engine that writes every embedding to a file, and takes from it what is there.

    The file is a line of JSON, {"tern-engine resume": 1, "fingerprint": …, "dim": …}, and for each
    text, in order, 16 bytes of its BLAKE2b and its embedding. It serves as far as the texts are the
    same ones as before; from the first that is another on it is written anew.
    """

    def __init__(self, engine: BatchEngine, path: Path) -> None:
        """Take up the file at `path`, or begin it. Raises OSError."""
        self._engine = engine
        self.dim, self.fingerprint = engine.dim, engine.fingerprint
        self._path = path
        self._record = np.dtype([("digest", f"V{_DIGEST_BYTES}"), ("vector", "<f4", self.dim)])
        header = {"tern-engine resume": 1, "fingerprint": self.fingerprint, "dim": self.dim}
        start = f"{json.dumps(header)}\n".encode()
        self._file = path.open("r+b" if path.exists() else "w+b")
        self._kept = 0
        if self._file.read(len(start)) == start:
            self._kept = (path.stat().st_size - len(start)) // self._record.itemsize
        else:
            self._file.seek(0)
            self._file.truncate()
            self._file.write(start)
        self.taken_up = 0

    def embed_batch(self, texts: Sequence[str], /) -> NDArray[np.float32]:
        """float32 [n, dim]; those not kept are embedded, and kept."""
        records = np.zeros(len(texts), self._record)
        records["digest"] = [_digest(text) for text in texts]
        known = self._known(records)
        if known < len(texts):
            records["vector"][known:] = self._engine.embed_batch(texts[known:])
            self._file.write(records[known:].tobytes())
            self._file.flush()
        vectors: NDArray[np.float32] = records["vector"].astype(np.float32)
        return vectors

    def close(self, remove: bool) -> None:
        """Close the file, and remove it where it is of no more use."""
        self._file.close()
        if remove:
            self._path.unlink()

    def _known(self, records: NDArray[np.void]) -> int:
        """How many of the first records are kept; their vectors are filled in."""
        count = min(self._kept, len(records))
        start = self._file.tell()
        data = self._file.read(count * self._record.itemsize)
        found = np.frombuffer(data, self._record)
        same = found["digest"] == records["digest"][:count]
        known = count if same.all() else int(np.argmin(same))
        records["vector"][:known] = found["vector"][:known]
        self._kept = self._kept - known if known == count else 0
        self.taken_up += known
        if self._kept == 0:  # what follows is cut short, or of other texts
            self._file.seek(start + known * self._record.itemsize)
            self._file.truncate()
        return known


def _digest(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()
