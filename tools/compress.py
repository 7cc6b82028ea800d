"""Lays FILE.zst, FILE.br and FILE.gz beside the files of a folder that get smaller by them."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import zstandard

from tools.ledger import ROOT

COMPRESS = ROOT / "tools" / "compress.mjs"
LEVEL = 19
# The most that RFC 8878 lets a client be asked to keep, as a power of two.
WINDOW_LOG = 23
WORTH = 0.95  # of the size before


def sources() -> list[Path]:
    """What compress() depends on, besides its arguments."""
    return [Path(__file__), COMPRESS]


def compress(folder: Path, cache: Path) -> None:
    """Compress the files below `folder`; `cache`, a folder, keeps what was made, by content.

    Which files, and Brotli's and gzip's part, are compress.mjs's: zstd takes those it took.
    """
    subprocess.run(["node", str(COMPRESS), str(folder), str(cache)], check=True)
    for gzipped in folder.rglob("*.gz"):
        path = gzipped.with_suffix("")
        if not path.is_file():
            continue  # a file of the folder's own
        content = path.read_bytes()
        kept = cache / f"{hashlib.sha256(content).hexdigest()}.{LEVEL}.zst"
        if not kept.exists():
            new = kept.with_suffix(".new")
            new.write_bytes(_zstd(content))
            new.replace(kept)
        smaller = kept.read_bytes()
        if len(smaller) <= WORTH * len(content):
            path.with_name(path.name + ".zst").write_bytes(smaller)


def _zstd(content: bytes) -> bytes:
    settings = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW_LOG)
    return zstandard.ZstdCompressor(compression_params=settings).compress(content)
