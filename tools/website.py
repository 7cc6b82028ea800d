"""Assembles dist/web: all that a page needs, in one folder that any static server can serve.

manifest.json       which files a load needs, their sizes and hashes
*.js, *.d.ts        the shim, bundled; package.json says that they are ES modules
demo/, examples/    pages
files/              what manifest.json names for the shim, each under a name that holds its hash,
                    to be cached for ever: model, kernel, Python's runtime, made lean, and standard
                    library, the engine's package without its model and kernel, as bytecode, and the
                    memory of an interpreter that has imported it, which takes the library's place
pyodide/            a Pyodide for pages that bring their own Python: the runtime from npm, the
                    standard library as bytecode, and, for loadPackage and micropip, a lock file
                    that lists the wheels beside it
*.zst, *.br, *.gz   the file beside it, compressed, for servers that negotiate
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import demo_site
from tools.compress import compress
from tools.ledger import ROOT, digest, empty_folder

PYODIDE = ROOT / "node_modules" / "pyodide"
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
PRECOMPILE = ROOT / "tools" / "precompile.mjs"
LEAN = ROOT / "tools" / "lean_runtime.mjs"
SNAPSHOT = ROOT / "tools" / "snapshot.mjs"
BUNDLE = ROOT / "tools" / "bundle_shim.mjs"
COMPRESSED = ROOT / "build" / "compressed"
# Digits of a file's SHA-256 in its name.
NAME_DIGITS = 16
# Of the shim's larger files each part has a hash, which a page takes while the rest comes.
SLICE = 1 << 18
MICROPIP = "micropip==0.11.1"
# micropip is chosen by the Python inside Pyodide, not by the one that builds.
PYODIDE_PYTHON = "3.14"
LICENSES = ("LICENSE", "THIRD_PARTY_NOTICES.md", "LICENSES")


def precompile(part: str, package_zip: Path, out: Path) -> None:
    """Run tools/precompile.mjs for `part`, "stdlib" or "engine"; its output lands in `out`."""
    out.mkdir(parents=True, exist_ok=True)
    command = ["node", str(PRECOMPILE), part, str(PYODIDE), str(package_zip), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"compiling Python inside Pyodide failed:\n{done.stderr}")


def runtime_sources() -> list[Path]:
    """What make_lean() depends on."""
    packages = [PYODIDE, *(ROOT / "node_modules" / name for name in ("binaryen", "terser"))]
    names = ("drop_unused_modules", "drop_unused_data", "wasm_binary")
    scripts = [LEAN.with_name(f"{name}.mjs") for name in names]
    return [LEAN, *scripts, *(package / "package.json" for package in packages)]


def make_lean(out: Path) -> None:
    """Write the shim's pyodide.asm.mjs and pyodide.asm.wasm into `out`, emptied first."""
    empty_folder(out)
    command = ["node", str(LEAN), str(PYODIDE), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"making Pyodide's runtime lean failed:\n{done.stderr}")


def snapshot_sources() -> list[Path]:
    """What take_snapshot() depends on, besides its arguments."""
    shim = [ROOT / "web" / name for name in ("pyodide-boot.js", "snapshot.js", "host.js")]
    inside = [
        SNAPSHOT.with_name(f"{name}.py")
        for name in ("snapshot_inside", "drop_unused_code", "clear_free_memory")
    ]
    return [SNAPSHOT, *inside, *shim]


def take_snapshot(runtime: Path, bytecode: Path) -> None:
    """Write snapshot.bin and snapshot.json into the folder that precompile("engine") wrote to.

    runtime: the folder that make_lean() wrote to.
    """
    names = ("python_stdlib_engine.zip", "package.zip", "snapshot.bin", "snapshot.json")
    command = ["node", str(SNAPSHOT), str(runtime), *(str(bytecode / name) for name in names)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"taking a snapshot of Python failed:\n{done.stderr}")


def download_micropip(out: Path) -> None:
    """Put micropip's wheel into the empty folder `out`."""
    empty_folder(out)
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
        "--dest", str(out), "--no-deps", "--only-binary=:all:",
        "--python-version", PYODIDE_PYTHON, MICROPIP,
    ]  # fmt: skip
    subprocess.run(command, check=True)


def zip_package(wheel: Path, out: Path) -> None:
    """The wheel's tern_engine folder without what a page fetches as files of its own."""
    left_out = {"tern_engine/data/model.bin", "tern_engine/data/kernels.wasm"}
    out.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(out, "w") as target:
        for info in sorted(source.infolist(), key=lambda info: info.filename):
            if info.filename.startswith("tern_engine/") and info.filename not in left_out:
                entry = zipfile.ZipInfo(info.filename)  # a fixed date
                target.writestr(entry, source.read(info))


def lock_file(wheels: Iterable[Path], base: Path) -> dict[str, Any]:
    """A pyodide-lock.json for this Pyodide that lists just `wheels`, which lie in `base`.

    pyodide-lock reads the wheels' metadata. Its `info` has a field that this Pyodide's own lock
    file lacks, so that part is taken over from there.
    """
    from pyodide_lock.spec import InfoSpec, PyodideLockSpec
    from pyodide_lock.utils import add_wheels_to_spec

    info = json.loads((PYODIDE / "pyodide-lock.json").read_text("utf-8"))["info"]
    version = json.loads((PYODIDE / "package.json").read_text("utf-8"))["version"]
    spec = PyodideLockSpec(info=InfoSpec(version=version, **info), packages={})
    spec = add_wheels_to_spec(spec, list(wheels), base_path=base)
    spec.check_wheel_filenames()
    packages = spec.model_dump()["packages"]
    return {"info": info, "packages": dict(sorted(packages.items()))}


@dataclass(frozen=True)
class Parts:
    """What a site is put together from.

    table          table format of the build
    wheel          the build's wheel
    package        the wheel, unpacked
    runtime        folder that make_lean() wrote to
    bytecode       folder that precompile() wrote to
    micropip       folder that holds micropip's wheel
    demo_index     the demo corpus, embedded by this build
    demo_map       where its map shows each entry
    """

    table: str
    wheel: Path
    package: Path
    runtime: Path
    bytecode: Path
    micropip: Path
    demo_index: Path
    demo_map: Path


def assemble(out: Path, parts: Parts) -> None:
    """Write the site into `out`, emptied first."""
    empty_folder(out)
    runtime = out / "pyodide"
    runtime.mkdir()
    for name in RUNTIME:
        shutil.copyfile(PYODIDE / name, runtime / name)
    shutil.copyfile(parts.bytecode / "python_stdlib.zip", runtime / "python_stdlib.zip")
    wheels = [parts.wheel, *parts.micropip.glob("*.whl")]
    hosted = [Path(shutil.copyfile(source, runtime / source.name)) for source in wheels]
    lock = json.dumps(lock_file(hosted, runtime), indent=1)
    (runtime / "pyodide-lock.json").write_text(lock, "utf-8")

    table, name = parts.table, f"tern-engine-emb-{parts.table}"
    package = parts.package
    sources = {
        "pyodide.asm.mjs": (parts.runtime / "pyodide.asm.mjs", "pyodide.asm.mjs"),
        "pyodide.asm.wasm": (parts.runtime / "pyodide.asm.wasm", "pyodide.asm.wasm"),
        "python_stdlib.zip": (parts.bytecode / "python_stdlib_engine.zip", "python_stdlib.zip"),
        "package": (parts.bytecode / "package.zip", f"{name}.zip"),
        "model": (package / "tern_engine/data/model.bin", f"model-{table}.bin"),
        "snapshot": (parts.bytecode / "snapshot.bin", "snapshot.bin"),
        "kernels": (package / "tern_engine/data/kernels.wasm", f"kernels-{table}.wasm"),
    }
    files = {role: place_hashed(out, *source) for role, source in sources.items()}
    _copy_sources(out)
    demo_site.place_libraries(out)
    shutil.copyfile(parts.demo_index, out / "demo" / "demo-index.bin")
    shutil.copyfile(parts.demo_map, out / "demo" / "demo-map.json")

    files |= {
        "pyodide.mjs": "pyodide/pyodide.mjs",
        "pyodide-lock.json": "pyodide/pyodide-lock.json",
        "python_stdlib_full.zip": "pyodide/python_stdlib.zip",
        "wheel": f"pyodide/{hosted[0].name}",
        "micropip": f"pyodide/{hosted[1].name}",
    }
    version, fingerprint = _identity(package, table)
    manifest: dict[str, Any] = {
        "name": name,
        "version": version,
        "embedding": table,
        "fingerprint": fingerprint,
        "files": {role: _entry(out, path) for role, path in files.items()},
    }
    # An interpreter's memory, which is of no use without these facts.
    facts = json.loads((parts.bytecode / "snapshot.json").read_text("utf-8"))
    manifest["files"]["snapshot"] |= facts
    (out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", "utf-8")
    (out / "package.json").write_text('{"type": "module"}\n', "utf-8")
    subprocess.run(["node", str(BUNDLE), str(out)], check=True)
    demo_site.write_service_worker(out)
    compress(out, COMPRESSED)


def place_hashed(out: Path, source: Path, name: str) -> str:
    """Copy a file into the site under `name` with its hash in it; the path in the site."""
    stem, ending = name.rsplit(".", 1)
    path = f"files/{stem}.{digest(source)[:NAME_DIGITS]}.{ending}"
    (out / "files").mkdir(exist_ok=True)
    shutil.copyfile(source, out / path)
    return path


def site_sources() -> list[Path]:
    """What _copy_sources reads."""
    return [ROOT / "web", *(ROOT / name for name in LICENSES)]


def _copy_sources(out: Path) -> None:
    web, *licenses = site_sources()
    shutil.copytree(web, out, dirs_exist_ok=True)
    for source in licenses:
        if source.is_dir():
            shutil.copytree(source, out / source.name)
        else:
            shutil.copyfile(source, out / source.name)


def _entry(out: Path, path: str) -> dict[str, object]:
    file = out / path
    entry: dict[str, object] = {
        "path": path,
        "bytes": file.stat().st_size,
        "sha256": digest(file),
    }
    if path.startswith("files/") and file.stat().st_size > SLICE:
        entry["slices"] = {"bytes": SLICE, "sha256": _slice_hashes(file)}
    return entry


def _slice_hashes(file: Path) -> list[str]:
    with file.open("rb") as content:
        slices = iter(lambda: content.read(SLICE), b"")
        return [hashlib.sha256(part).hexdigest() for part in slices]


def _identity(package: Path, table: str) -> tuple[str, str]:
    """(version, fingerprint) as the build's stamp says them."""
    stamp: dict[str, Any] = {}
    exec((package / f"tern_engine/_build_{table}.py").read_text("utf-8"), stamp)
    return stamp["VERSION"], stamp["MODEL_SHA256"]
