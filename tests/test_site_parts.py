"""The web site's parts: what the manifest lists, the engine's files and Pyodide's."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "dist" / "web"
SUPPORT = ROOT / "tests" / "support"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def manifest() -> dict[str, Any]:
    path = SITE / "manifest.json"
    assert path.exists(), "dist/web is not built: run python3 build.py web"
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def file_of(role: str) -> Path:
    path: str = manifest()["files"][role]["path"]
    return SITE / path


def run_node(script: str, *arguments: str | Path) -> str:
    """What a script of tests/support prints."""
    command = ["node", str(SUPPORT / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_in_pyodide(file: str, **options: Any) -> Any:
    """What a Python file of tests/support gives in the site's Pyodide; in_pyodide.mjs' options."""
    script = (file_of("pyodide.mjs"), SUPPORT / file, json.dumps(options, default=str))
    return json.loads(run_node("in_pyodide.mjs", *script).splitlines()[-1])


def test_the_manifest_says_what_is_there() -> None:
    content = manifest()
    assert content["name"] == "tern-engine-emb-int4"
    assert content["version"] == VERSION
    assert content["embedding"] == "int4"
    assert set(content["files"]) == {
        "pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "pyodide-lock.json",
        "python_stdlib.zip", "python_stdlib_full.zip", "package", "model", "kernels", "wheel",
        "micropip", "snapshot",
    }  # fmt: skip
    for role, entry in content["files"].items():
        found = (SITE / entry["path"]).read_bytes()
        assert (entry["bytes"], entry["sha256"]) == (len(found), sha256(found).hexdigest()), role
        if slices := entry.get("slices"):
            starts = range(0, len(found), slices["bytes"])
            parts = [found[start : start + slices["bytes"]] for start in starts]
            assert [sha256(part).hexdigest() for part in parts] == slices["sha256"], role
        assert not entry["path"].startswith("/") and ".." not in entry["path"]


def test_the_fingerprint_is_the_models_own_and_the_engines() -> None:
    import tern_engine

    content = manifest()
    assert content["fingerprint"] == content["files"]["model"]["sha256"]
    assert content["fingerprint"] == json.loads(tern_engine.config_summary())["fingerprint"]
    assert file_of("model").read_bytes() == (ROOT / "assets" / "model-int4.bin").read_bytes()


def test_the_two_files_and_the_kernel_make_up_the_wheel() -> None:
    with zipfile.ZipFile(file_of("wheel")) as wheel, zipfile.ZipFile(file_of("package")) as package:
        inside = {name for name in wheel.namelist() if name.startswith("tern_engine/")}
        apart = {
            "tern_engine/data/model.bin": file_of("model"),
            "tern_engine/data/kernels.wasm": file_of("kernels"),
        }
        for name, path in apart.items():
            assert wheel.read(name) == path.read_bytes()
        assert set(package.namelist()) == {
            name.removesuffix(".py") + ".pyc" if name.endswith(".py") else name
            for name in inside - set(apart)
        }
        vocab = "tern_engine/data/vocab.txt"
        assert package.read(vocab) == wheel.read(vocab)


@pytest.mark.parametrize("role", ["python_stdlib.zip", "python_stdlib_full.zip", "package"])
def test_bytecode_zips_are_stored_and_of_fixed_dates(role: str) -> None:
    with zipfile.ZipFile(file_of(role)) as archive:
        infos = archive.infolist()
    assert {info.compress_type for info in infos} == {zipfile.ZIP_STORED}
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert not any(info.filename.endswith(".py") for info in infos)


def test_the_standard_library_is_whole_for_others_and_trimmed_for_the_shim() -> None:
    with zipfile.ZipFile(ROOT / "node_modules/pyodide/python_stdlib.zip") as archive:
        original = {n.removesuffix(".py") for n in archive.namelist() if not n.endswith("/")}
    names = {}
    for role in ("python_stdlib.zip", "python_stdlib_full.zip"):
        with zipfile.ZipFile(file_of(role)) as archive:
            names[role] = {name.removesuffix(".pyc") for name in archive.namelist()}
    assert names["python_stdlib_full.zip"] == original
    assert names["python_stdlib.zip"] < original
    assert {"os", "re/__init__", "encodings/utf_8", "traceback"} < names["python_stdlib.zip"]
    # loadPyodide looks for this name beside itself.
    assert file_of("python_stdlib_full.zip") == SITE / "pyodide" / "python_stdlib.zip"


def test_the_trimmed_standard_library_lacks_nothing_that_is_imported() -> None:
    """Every module of Pyodide's own and of the engine, and what an error is formatted with."""
    modules = []
    for role in ("python_stdlib_full.zip", "package"):
        with zipfile.ZipFile(file_of(role)) as archive:
            names = [name for name in archive.namelist() if name.endswith(".pyc")]
        modules += [name.removesuffix(".pyc").removesuffix("/__init__") for name in names]
    own = [m.replace("/", ".") for m in modules if m.startswith(("pyodide", "_pyodide", "tern_"))]
    assert len(own) > 40
    own.remove("tern_engine.kernels._wasmtime")  # another host's
    stdlib, package = file_of("python_stdlib.zip"), file_of("package")
    syntax, nested, warned, words, positions = run_in_pyodide(
        "inside_imports.py", stdlib=stdlib, unpack=package, globals={"modules": own}
    )
    assert "SyntaxError: '(' was never closed" in syntax
    assert "json.decoder.JSONDecodeError" in nested
    assert "UserWarning: careful" in warned
    assert words == 6
    assert re.search(r"json/decoder\.pyc?\", line [1-9]", nested)
    assert [False, True] in positions  # the lines of its code are known, the columns are not
    assert [False, False] not in positions


def test_micropip_installs_by_name_from_the_sites_own_lock_file() -> None:
    assert run_in_pyodide("inside_version.py", install="tern-engine-emb-int4") == [VERSION, 384]


def test_the_lock_file_lists_what_is_hosted() -> None:
    lock = json.loads(file_of("pyodide-lock.json").read_text("utf-8"))
    stock = json.loads((ROOT / "node_modules/pyodide/pyodide-lock.json").read_text("utf-8"))
    assert lock["info"] == stock["info"]
    assert set(lock["packages"]) == {"micropip", "tern-engine-emb-int4"}
    for package in lock["packages"].values():
        content = (SITE / "pyodide" / package["file_name"]).read_bytes()
        assert package["sha256"] == sha256(content).hexdigest()
        assert package["depends"] == []
    assert lock["packages"]["tern-engine-emb-int4"]["imports"] == ["tern_engine"]
    assert lock["packages"]["micropip"]["version"] == stock["packages"]["micropip"]["version"]


def test_the_runtime_for_pythons_of_ones_own_is_npms_unchanged() -> None:
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"):
        npm = ROOT / "node_modules" / "pyodide" / name
        assert (SITE / "pyodide" / name).read_bytes() == npm.read_bytes()


def test_the_shims_runtime_has_nothing_for_dynamic_libraries() -> None:
    """What it has for the engine, all tests of the engine show."""
    npm = ROOT / "node_modules" / "pyodide"
    script, wasm = file_of("pyodide.asm.mjs"), file_of("pyodide.asm.wasm")
    found = json.loads(run_node("wasm_names.mjs", wasm))
    assert {"memory", "__main_argc_argv", "Py_Version"} <= set(found["exports"])
    assert len(found["exports"]) < 300
    assert not any(name.startswith("GOT.") for name in found["imports"])
    assert script.stat().st_size < 0.35 * (npm / "pyodide.asm.mjs").stat().st_size
    content = script.read_text("utf-8")
    assert "_emscripten_glClear" not in content
    assert "updateGOT(origExports)" not in content
    for name in found["imports"]:
        if name.startswith("env."):
            assert name.removeprefix("env.") in content


def test_a_rule_for_the_runtime_that_matches_nothing_ends_the_build(tmp_path: Path) -> None:
    for name in ("pyodide.asm.mjs", "pyodide.asm.wasm"):
        shutil.copyfile(ROOT / "node_modules" / "pyodide" / name, tmp_path / name)
    script = tmp_path / "pyodide.asm.mjs"
    script.write_text(script.read_text("utf-8").replace("updateGOT(origExports);", ""), "utf-8")
    command = ["node", str(ROOT / "tools" / "lean_runtime.mjs"), str(tmp_path), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "matches 0 times, expected 1" in done.stderr


def test_the_site_carries_its_licences() -> None:
    assert (SITE / "LICENSE").read_text().startswith("MIT License")
    assert "Pyodide" in (SITE / "THIRD_PARTY_NOTICES.md").read_text("utf-8")
    assert {"Apache-2.0.txt", "MPL-2.0.txt", "PSF-2.0.txt"} <= {
        path.name for path in (SITE / "LICENSES").iterdir()
    }
