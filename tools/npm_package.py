"""Assembles dist/npm, the npm package, from the site, and packs its tarball.

*.js, *.d.ts, vendor/    the shim and what it needs of others: the package depends on none
packaged.js              in the place of the site's: lists the files as bundlers look for them
files/, manifest.json    the engine's files; the manifest is for whoever serves a copy of the folder
package.json, README.md, LICENSE, THIRD_PARTY_NOTICES.md, LICENSES/
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tools.ledger import ROOT, empty_folder

NAME = "tern-engine"
WEB = ROOT / "web"
# Of the site; its packaged.js is its own.
TEXTS = ("README.md", "LICENSE", "THIRD_PARTY_NOTICES.md")
UNUSED = shutil.ignore_patterns("*.zst", "*.br", "*.gz", "snapshot.*")
NOT_TAKEN = frozenset({"packaged.js"})
PACKAGED = """/** Where the engine's files are: named one by one, as bundlers look for them. */

export const FOLDER = undefined;

export const EXPECTED = undefined;

export const FILES = {
%s};
"""


def assemble(out: Path, site: Path) -> None:
    """Write the package into `out`, emptied first."""
    empty_folder(out)
    # As they are written: the site's are bundled, which is for the user's own bundler to do.
    for pattern in ("*.js", "*.d.ts"):
        for source in sorted(WEB.glob(pattern)):
            if source.name not in NOT_TAKEN:
                shutil.copyfile(source, out / source.name)
    for name in TEXTS:
        shutil.copyfile(site / name, out / name)
    for folder in ("files", "vendor", "LICENSES"):
        shutil.copytree(site / folder, out / folder, ignore=UNUSED)
    manifest = json.loads((site / "manifest.json").read_text("utf-8"))
    files = manifest["files"]
    manifest["files"] = own = {role: files[role] for role in files if _is_own(files[role])}
    _write_json(out / "manifest.json", manifest)
    (out / "packaged.js").write_text(PACKAGED % "".join(map(_listed, own.items())), "utf-8")
    (out / "engine.worker.d.ts").write_text("export {};\n", "utf-8")
    _write_json(out / "package.json", package_json(manifest["version"]))


def package_json(version: str) -> dict[str, Any]:
    """What the package says of itself; some of it stands in the checkout's package.json."""
    root = json.loads((ROOT / "package.json").read_text("utf-8"))
    main = {"types": "./tern-engine.d.ts"}
    # The first that fits counts. Workers of Cloudflare's compile nothing at run time.
    main |= {"workerd": "./workerd.js", "node": "./tern-engine.js", "browser": "./tern-engine.js"}
    return {
        "name": NAME,
        "version": version,
        "description": root["description"],
        "keywords": ["embeddings", "semantic search", "sentence similarity", "wasm", "pyodide"],
        "license": root["license"],
        "type": "module",
        "engines": root["engines"],
        # A worker's script is run for its effects; a bundler must not drop it.
        "sideEffects": ["./engine.worker.js"],
        "types": "./tern-engine.d.ts",
        "main": "./tern-engine.js",
        "exports": {
            ".": {**main, "default": "./tern-engine.js"},
            "./search": {"types": "./search.d.ts", "default": "./search.js"},
            "./vite": {"types": "./vite.d.ts", "default": "./vite.js"},
            "./engine.worker.js": {
                "types": "./engine.worker.d.ts",
                "default": "./engine.worker.js",
            },
            "./manifest.json": "./manifest.json",
            "./files/*": "./files/*",
            "./package.json": "./package.json",
        },
    }


def pack(folder: Path, tarball: Path) -> None:
    """Run `npm pack`."""
    command = ["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination"]
    tarball.unlink(missing_ok=True)
    subprocess.run(
        [*command, str(tarball.parent)], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )


def _is_own(entry: dict[str, Any]) -> bool:
    # Bundlers change pyodide.asm.mjs, and a snapshot goes with the one that it was taken under.
    return str(entry["path"]).startswith("files/") and "memoryBytes" not in entry


def _listed(item: tuple[str, dict[str, Any]]) -> str:
    """One entry of FILES. The URL's form is the one that bundlers know.

    A script has no hash: bundlers shorten it, as they do the application's code, to which it then
    belongs.
    """
    role, entry = item
    url = f'new URL("./{entry["path"]}", import.meta.url).href'
    facts = f', bytes: {entry["bytes"]}, sha256: "{entry["sha256"]}"'
    return f'  "{role}": {{ url: {url}{"" if role.endswith(".mjs") else facts} }},\n'


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
