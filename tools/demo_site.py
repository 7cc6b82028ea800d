"""What the demo page needs in dist/web beside its own sources.

Libraries from npm, unchanged, where its modules look for them; and sw.js, the service worker, with
the list of files that it keeps for use without a network.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

from tools.ledger import ROOT, digest

NODE_MODULES = ROOT / "node_modules"
# Where it lies in the site → where npm put it.
VENDORED = {
    "vendor/minisearch.js": "minisearch/dist/es/index.js",
    "vendor/idb.js": "idb/build/index.js",
    "demo/vendor/umap-js.js": "umap-js/lib/umap-js.min.js",
    "demo/vendor/pdf.mjs": "pdfjs-dist/legacy/build/pdf.min.mjs",
    "demo/vendor/pdf.worker.mjs": "pdfjs-dist/legacy/build/pdf.worker.min.mjs",
}
# For pages that bring their own Python; the demo fetches what lies in files/.
UNUSED_FOLDERS = ("pyodide/", "examples/")
# Not fetched under these names: other forms of files, which servers negotiate, and sources.
UNUSED_SUFFIXES = (".br", ".gz", ".d.ts", ".map")


def vendored_sources() -> list[Path]:
    """What place_libraries reads."""
    return [NODE_MODULES / source for source in VENDORED.values()]


def place_libraries(out: Path) -> None:
    """Copy the libraries into the site `out`."""
    for target, source in VENDORED.items():
        (out / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(NODE_MODULES / source, out / target)


def write_service_worker(out: Path) -> None:
    """Write sw.js for the finished site `out`.

    It names each file by its hash, so that a site that changed has another sw.js, which is how
    browsers notice.
    """
    entries = [[path, digest(out / path)] for path in sorted(_candidates(out))]
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    text = f'self.FILES = [\n{lines}\n];\nimportScripts("demo/offline.js");\n'
    (out / "sw.js").write_text(text, "utf-8")


def _candidates(out: Path) -> Iterable[str]:
    for path in out.rglob("*"):
        name = path.relative_to(out).as_posix()
        unused = name.startswith(UNUSED_FOLDERS) or name.endswith(("sw.js", *UNUSED_SUFFIXES))
        if path.is_file() and not unused:
            yield name
