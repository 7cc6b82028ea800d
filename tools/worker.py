"""Assembles dist/worker: what `wrangler deploy` uploads.

script/    worker.js and, beside it, the WebAssembly modules that it imports
assets/    model.bin, and python.zip: the standard library and the engine's package, as bytecode;
           snapshot.bin where it was asked for: an interpreter's memory with the engine imported
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from tools.ledger import ROOT, empty_folder
from tools.payload import engine_modules

WORKER = ROOT / "worker"
PYODIDE = ROOT / "node_modules" / "pyodide"
MOST_ASSET_BYTES = 25 * 1024 * 1024
FIXED_DATE = (1980, 1, 1, 0, 0, 0)


def sources() -> list[Path]:
    """What assemble() reads of the checkout."""
    code = [*WORKER.glob("*.js"), WORKER / "package-lock.json", WORKER / "build", WORKER / "page"]
    return [*code, *(ROOT / "web").glob("*.js"), PYODIDE / "package.json"]


def assemble(out: Path, site: Path, *, snapshot: bool = False) -> None:
    """Write the Worker into `out`, emptied first, from `site`, the folder that website.py made."""
    empty_folder(out)
    manifest = json.loads((site / "manifest.json").read_text("utf-8"))
    files = {role: site / entry["path"] for role, entry in manifest["files"].items()}
    assets = out / "assets"
    assets.mkdir()
    shutil.copyfile(files["model"], assets / "model.bin")
    merge_zips([files["python_stdlib.zip"], files["package"]], assets / "python.zip")
    facts = _build_facts(manifest, files["model"])
    facts["snapshot"] = _make_snapshot(assets) if snapshot else None
    parts = {"pyodide": str(PYODIDE), "kernels": str(files["kernels"]), "build": facts}
    parts_file = out / "parts.json"
    parts_file.write_text(json.dumps(parts), "utf-8")
    run_node(WORKER / "build" / "build.mjs", parts_file, out / "script")
    parts_file.unlink()


def serve(port: int) -> int:
    """Run dist/worker with `wrangler dev` until it is ended; its exit code.

    wrangler is asked to look up nothing at Cloudflare and to report nothing.
    """
    command = [str(WORKER / "node_modules" / ".bin" / "wrangler"), "dev", "--port", str(port)]
    environment = {**os.environ, "CLOUDFLARE_CF_FETCH_ENABLED": "false"}
    environment.setdefault("WRANGLER_SEND_METRICS", "false")
    if os.name == "posix":  # in this process's place, so that what ends this one ends the server
        os.chdir(WORKER)
        os.execve(command[0], command, environment)
    try:
        return subprocess.run(command, cwd=WORKER, env=environment, check=False).returncode
    except KeyboardInterrupt:
        return 0


def merge_zips(sources: list[Path], out: Path) -> None:
    """One zip with the files of several, stored: Python imports packages from the zip of its
    standard library, so that nothing needs to be unpacked at the start."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target:
        for source in sources:
            with zipfile.ZipFile(source) as archive:
                for name in sorted(archive.namelist()):
                    if not name.endswith("/"):
                        target.writestr(zipfile.ZipInfo(name, FIXED_DATE), archive.read(name))


def _make_snapshot(assets: Path) -> dict[str, Any]:
    """Write snapshot.bin into `assets`; returns what the script must know of it."""
    script, out = WORKER / "build" / "snapshot.mjs", assets / "snapshot.bin"
    facts: dict[str, Any] = json.loads(run_node(script, PYODIDE, assets / "python.zip", out))
    if out.stat().st_size > MOST_ASSET_BYTES:
        raise RuntimeError(f"the snapshot has {out.stat().st_size} bytes, Cloudflare takes 25 MiB")
    return facts


def run_node(script: Path, *arguments: Path) -> str:
    """Run a script of the Worker's build; what it printed. Its messages are the error's."""
    command = ["node", str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip() and len(line) < 400]
        raise RuntimeError("\n".join(["building the Worker failed:", *lines]))
    return done.stdout


def _build_facts(manifest: dict[str, Any], model: Path) -> dict[str, Any]:
    """What the script knows without starting the engine."""
    with engine_modules("format") as (layout,):
        content = model.read_bytes()
        header = layout.read_header(content, len(content), build=None, vocab_size=None)
    return {
        "name": manifest["name"],
        "version": manifest["version"],
        "fingerprint": manifest["fingerprint"],
        "dim": header.output_dim,
        # A fixed date: the same sources give the same bytes.
        "created": 1767225600,
    }
