"""What the demo page needs in dist/web beside its own sources.

Libraries from npm, unchanged, where its modules look for them; the service worker's script, bundled
with the parts of Workbox that it uses; and sw.js, the service worker, with the list of files that
it keeps for use without a network.
"""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
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
# What the bundle is made of and by; a package's version stands for its files.
BUNDLED = ("workbox-core", "workbox-precaching", "workbox-routing", "workbox-strategies", "esbuild")
OFFLINE = "demo/offline.js"
# For pages that bring their own Python; the demo fetches what lies in files/.
UNUSED_FOLDERS = ("pyodide/", "examples/")
# Not fetched under these names: other forms of files, which servers negotiate, and sources.
UNUSED_SUFFIXES = (".zst", ".br", ".gz", ".d.ts", ".map")


def vendored_sources() -> list[Path]:
    """What place_libraries reads."""
    packages = [NODE_MODULES / name / "package.json" for name in BUNDLED]
    return [*(NODE_MODULES / source for source in VENDORED.values()), *packages]


def place_libraries(out: Path) -> None:
    """Copy the libraries into the site `out`, and put the service worker's bundle there."""
    for target, source in VENDORED.items():
        (out / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(NODE_MODULES / source, out / target)
    command = ["node", str(NODE_MODULES / "esbuild/bin/esbuild"), str(ROOT / "web" / OFFLINE)]
    command += ["--bundle", "--minify", "--format=iife", "--legal-comments=none"]
    command += ['--define:process.env.NODE_ENV="production"', "--log-level=warning"]
    (out / OFFLINE).unlink()
    subprocess.run([*command, f"--outfile={out / OFFLINE}"], check=True)


def write_service_worker(out: Path) -> None:
    """Write sw.js for the finished site `out`.

    It names each file by its hash, so that a site that changed has another sw.js, which is how
    browsers notice.
    """
    entries = [[path, _base64_digest(out / path)] for path in sorted(_candidates(out))]
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    text = f'self.FILES = [\n{lines}\n];\nimportScripts("{OFFLINE}");\n'
    (out / "sw.js").write_text(text, "utf-8")


def _base64_digest(path: Path) -> str:
    """SHA-256 of a file as subresource integrity writes it."""
    return base64.b64encode(bytes.fromhex(digest(path))).decode()


def _candidates(out: Path) -> Iterable[str]:
    for path in out.rglob("*"):
        name = path.relative_to(out).as_posix()
        unused = name.startswith(UNUSED_FOLDERS) or name.endswith(("sw.js", *UNUSED_SUFFIXES))
        if path.is_file() and not unused:
            yield name
