"""Embed the demo's corpus with the native engine, so that the page can search at once.

    PYTHONPATH=pyapp python3 -m tools.build_demo_vectors [--corpus FILE] --out FILE

The file, little-endian: "TERNVEC1", SHA-256 of the model (the fingerprint, 32 bytes), SHA-256 of
the corpus file (32 bytes), count u32, dim u32, then count × dim float32, a row an entry. The page
takes it only for the very model and corpus that it has. Every host computes the same bits, so it
can be made here and compared with vectors made in a browser.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
from array import array
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parent.parent
MAGIC = b"TERNVEC1"


class Embedder(Protocol):
    """What is used of tern_engine.Engine."""

    @property
    def fingerprint(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def embed(self, text: str) -> Any: ...


def entry_text(entry: list[str]) -> str:
    """What of an entry is embedded; web/demo/corpus.js says the same."""
    words, kind, definition = entry
    return f"{words.split('; ')[0]} ({kind}): {definition}"


def build_vectors(corpus: bytes, engine: Embedder) -> bytes:
    """The vectors file of a corpus file."""
    entries = json.loads(corpus)["entries"]
    rows = array("f")
    for entry in entries:
        rows.extend(array("f", bytes(engine.embed(entry_text(entry)))))
    if sys.byteorder == "big":
        rows.byteswap()
    head = struct.pack("<II", len(entries), engine.dim)
    fingerprint = bytes.fromhex(engine.fingerprint)
    return MAGIC + fingerprint + hashlib.sha256(corpus).digest() + head + rows.tobytes()


def main() -> None:
    parser = argparse.ArgumentParser(description="Embed the demo's corpus.")
    parser.add_argument("--corpus", type=Path, default=ROOT / "assets" / "demo-corpus.json")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    from tern_engine import Engine

    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(build_vectors(options.corpus.read_bytes(), Engine.load()))
    print(f"{options.out.name}: {options.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
