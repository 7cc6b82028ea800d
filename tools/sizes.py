"""Prints artifacts with their sizes: as they are, gzip -9 and brotli -9."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tools.ledger import ROOT, digest, files_under

COMPRESSES = ROOT / "tools" / "sizes.mjs"


def measure(paths: Iterable[Path], cache: Path) -> dict[Path, tuple[int, int, int]]:
    """File -> (raw, gzip, brotli) bytes. Known contents are looked up in `cache`, a JSON file."""
    try:
        known: dict[str, list[int]] = json.loads(cache.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        known = {}
    hashes = {path: digest(path) for path in paths}
    new = [path for path, content in hashes.items() if content not in known]
    if new:
        command = ["node", str(COMPRESSES), *map(str, new)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for path, sizes in zip(new, json.loads(done.stdout), strict=True):
            known[hashes[path]] = sizes
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_text(json.dumps(known), "utf-8")
    return {path: (known[h][0], known[h][1], known[h][2]) for path, h in hashes.items()}


def report(paths: Iterable[Path], cache: Path) -> None:
    """Print one line a file, those below a folder included."""
    # What lies compressed beside a file is no artifact of its own.
    files = [path for path in files_under(paths) if path.suffix not in (".zst", ".br", ".gz")]
    sizes = measure(files, cache)
    if not sizes:
        return
    names = {path: short(path) for path in sizes}
    width = max(map(len, names.values()))
    print(f"{'':{width}} {'bytes':>12} {'gzip':>12} {'brotli':>12}")
    for path, (raw, gzipped, brotli) in sizes.items():
        print(f"{names[path]:{width}} {raw:12,} {gzipped:12,} {brotli:12,}")


def short(path: Path) -> str:
    """A path as messages name it: from the repository's root, where it lies below that."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
