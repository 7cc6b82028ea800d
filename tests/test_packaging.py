"""The web site's parts, the recipe, the pins, and the checks of style and types."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tools.kernels import TABLES, compile_kernel
from tools.payload import check_model, vocabulary

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "dist" / "web"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGE_JSON = json.loads((ROOT / "package.json").read_text("utf-8"))
VERSION = PROJECT["project"]["version"]
RECIPE = ROOT / "recipes" / "tern-engine-emb-int4" / "meta.yaml"
REQUIREMENTS = sorted((ROOT / "requirements").glob("*.txt"))


def manifest() -> dict[str, Any]:
    path = SITE / "manifest.json"
    assert path.exists(), "dist/web is not built: run python3 build.py web"
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return content


def file_of(role: str) -> Path:
    path: str = manifest()["files"][role]["path"]
    return SITE / path


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# Node quotes the source line of an error, which is all of Pyodide here.
SHORT_ERRORS = """
process.on("uncaughtException", (error) => { console.error(error.message); process.exit(1); });
"""


def run_node(script: str, *arguments: str | Path) -> str:
    """What a script, an ES module, prints."""
    command = ["node", "--input-type=module", "-e", SHORT_ERRORS + script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- site


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
        assert (entry["bytes"], entry["sha256"]) == (len(found), sha256(found)), role
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


TRIMMED_CHECK = """
import { readFileSync } from "node:fs";
const { loadPyodide } = await import(process.argv[1]);
const python = await loadPyodide({ stdLibURL: process.argv[2] });
const folder = python.runPython("import site; site.getsitepackages()[0]");
const archive = new Uint8Array(readFileSync(process.argv[3])); // Pyodide takes no Buffer
python.unpackArchive(archive, "zip", { extractDir: folder });
console.log(python.runPython(`
import importlib, io, json, sys, traceback, warnings
from js import process
for name in process.argv[4].split():
    importlib.import_module(name)
try:
    eval("(1 +")
except SyntaxError:
    syntax = traceback.format_exc()
try:
    json.loads("{]")
except ValueError:
    nested = traceback.format_exc()
out, sys.stderr = sys.stderr, io.StringIO()
warnings.warn("careful")
warned, sys.stderr = sys.stderr.getvalue(), out
words = ["naïve".encode(c) for c in ("utf-16", "utf-32", "latin-1", "cp1252", "idna", "utf-8-sig")]
json.dumps([syntax, nested, warned, len(words)])
`));
"""


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
    paths = [file_of(role) for role in ("pyodide.mjs", "python_stdlib.zip", "package")]
    answer = run_node(TRIMMED_CHECK, *paths, " ".join(own))
    syntax, nested, warned, words = json.loads(answer)
    assert "SyntaxError: '(' was never closed" in syntax
    assert "json.decoder.JSONDecodeError" in nested
    assert "UserWarning: careful" in warned
    assert words == 6


INSTALL_BY_NAME = """
const { loadPyodide } = await import(process.argv[1]);
const python = await loadPyodide({ stdout() {} });
await python.loadPackage("micropip", { messageCallback() {} });
await python.pyimport("micropip").install("tern-engine-emb-int4");
console.log(python.runPython(`
import importlib.metadata, json, tern_engine
json.dumps([importlib.metadata.version("tern-engine-emb-int4"), len(tern_engine.embed("a tern"))])
`));
"""


def test_micropip_installs_by_name_from_the_sites_own_lock_file() -> None:
    last_line = run_node(INSTALL_BY_NAME, file_of("pyodide.mjs")).splitlines()[-1]
    assert json.loads(last_line) == [VERSION, 384]


def test_the_lock_file_lists_what_is_hosted() -> None:
    lock = json.loads(file_of("pyodide-lock.json").read_text("utf-8"))
    stock = json.loads((ROOT / "node_modules/pyodide/pyodide-lock.json").read_text("utf-8"))
    assert lock["info"] == stock["info"]
    assert set(lock["packages"]) == {"micropip", "tern-engine-emb-int4"}
    for package in lock["packages"].values():
        content = (SITE / "pyodide" / package["file_name"]).read_bytes()
        assert package["sha256"] == sha256(content)
        assert package["depends"] == []
    assert lock["packages"]["tern-engine-emb-int4"]["imports"] == ["tern_engine"]
    assert lock["packages"]["micropip"]["version"] == stock["packages"]["micropip"]["version"]


def test_the_runtime_for_pythons_of_ones_own_is_npms_unchanged() -> None:
    for name in ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm"):
        npm = ROOT / "node_modules" / "pyodide" / name
        assert (SITE / "pyodide" / name).read_bytes() == npm.read_bytes()


LOOK_INTO = """
import { readFileSync } from "node:fs";
const module = new WebAssembly.Module(readFileSync(process.argv[1]));
const exports = WebAssembly.Module.exports(module).map(({ name }) => name);
const imports = WebAssembly.Module.imports(module).map(({ module, name }) => `${module}.${name}`);
console.log(JSON.stringify({ exports, imports }));
"""


def test_the_shims_runtime_has_nothing_for_dynamic_libraries() -> None:
    """What it has for the engine, all tests of the engine show."""
    npm = ROOT / "node_modules" / "pyodide"
    script, wasm = file_of("pyodide.asm.mjs"), file_of("pyodide.asm.wasm")
    found = json.loads(run_node(LOOK_INTO, wasm))
    assert {"memory", "__main_argc_argv", "Py_Version"} <= set(found["exports"])
    assert len(found["exports"]) < 300
    assert not any(name.startswith("GOT.") for name in found["imports"])
    assert wasm.stat().st_size < 0.92 * (npm / "pyodide.asm.wasm").stat().st_size
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


# --- kernel compiler and payload


@pytest.mark.parametrize("table", TABLES)
def test_a_kernel_compiles_to_the_same_bytes_anywhere(table: str, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for source in (ROOT / "pyapp" / "tern_engine" / "kernels").glob("*.[ch]"):
        (copy / source.name).write_bytes(source.read_bytes())
    compile_kernel(table, tmp_path / "copy.wasm", sources=copy)
    compile_kernel(table, tmp_path / "own.wasm")
    assert (tmp_path / "copy.wasm").read_bytes() == (tmp_path / "own.wasm").read_bytes()


def test_a_compile_error_is_shown(tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("int broken(void) { return nonsense; }\n")
    with pytest.raises(RuntimeError, match="nonsense"):
        compile_kernel("int4", tmp_path / "out.wasm", sources=tmp_path)


def test_an_unknown_table_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="int5"):
        compile_kernel("int5", tmp_path / "out.wasm")


def test_a_vocabulary_with_a_gap_or_a_line_break_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for pieces, message in (({"a": 0, "b": 2}, "ids"), ({"a": 0, "b\n": 1}, "line break")):
        path.write_text(json.dumps({"model": {"vocab": pieces}}))
        with pytest.raises(ValueError, match=message):
            vocabulary(path)


def test_checking_a_model_leaves_the_imported_engine_alone() -> None:
    import tern_engine

    before = sys.modules["tern_engine"]
    found = check_model(ROOT / "assets" / "model-int4.bin", "int4", 30522)
    assert found == sha256((ROOT / "assets" / "model-int4.bin").read_bytes())
    assert sys.modules["tern_engine"] is before is tern_engine


# --- pins


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_exact_versions(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+]+", line) for line in lines)
    names = [line.split("==")[0].lower().replace("_", "-") for line in lines]
    assert len(names) == len(set(names))


def pins(*files: str) -> dict[str, str]:
    """Normalized name -> version of requirements/<file>.txt, all together."""
    lines = [
        line
        for name in files
        for line in (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    found = (line.split("==") for line in lines)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in found}


def test_what_is_installed_is_what_is_pinned_and_complete() -> None:
    """Each pinned package is there in its version, and so is all that it needs."""
    from packaging.requirements import Requirement

    pinned = pins("build", "test", "tools", "python", "adapters", "bench")
    for name, version in pinned.items():
        distribution = importlib.metadata.distribution(name)
        assert distribution.version == version, name
        for line in distribution.requires or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                key = re.sub(r"[-_.]+", "-", needed.name).lower()
                assert key in pinned, f"{name} needs {line}"
                assert needed.specifier.contains(pinned[key], prereleases=True), (name, line)


def test_the_build_backend_is_pinned_as_in_the_requirements() -> None:
    pinned = pins("build")
    required = dict(line.split("==") for line in PROJECT["build-system"]["requires"])
    assert required == {name: pinned[name] for name in ("hatchling", "ziglang")}


def test_npm_versions_are_exact_and_the_lock_names_no_registry() -> None:
    wanted = PACKAGE_JSON["dependencies"] | PACKAGE_JSON["devDependencies"]
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in wanted.values())
    text = (ROOT / "package-lock.json").read_text("utf-8")
    lock = json.loads(text)
    assert "resolved" not in text
    for name, version in wanted.items():
        entry = lock["packages"][f"node_modules/{name}"]
        assert entry["version"] == version
        assert entry["integrity"].startswith("sha512-")


def test_the_version_is_the_same_everywhere() -> None:
    assert PACKAGE_JSON["version"] == VERSION
    assert yaml.safe_load(RECIPE.read_text())["package"]["version"] == VERSION


# --- recipe


def test_pyodide_build_accepts_the_recipe(tmp_path: Path) -> None:
    """By its own schema. Its pydantic is an older one than ours, so it gets a folder of its own."""
    packages = ["pyodide-build==0.25.1", "pydantic==1.10.27", "typing_extensions==4.16.0"]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--target", str(tmp_path), *packages, "PyYAML==6.0.4"], check=True)
    code = """
import sys
from pathlib import Path
from pyodide_build.io import MetaConfig
recipe = MetaConfig.from_yaml(Path(sys.argv[1]))
print(recipe.package.name, recipe.package.version, recipe.source.path.resolve())
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(RECIPE)],
        env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [PROJECT["project"]["name"], VERSION, str(ROOT)]


# --- style and types


def run_tool(*arguments: str) -> None:
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing() -> None:
    run_tool("ruff", "check", "--no-cache", ".")


def test_the_python_is_formatted() -> None:
    run_tool("ruff", "format", "--no-cache", "--check", ".")


def test_the_types_hold() -> None:
    """Strictly in the product and the tools, less so in the tests (pyproject.toml)."""
    run_tool("mypy", "pyapp", "training/pack", "tools", "bench", "build.py", "hatch_build.py")
    tests = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "tests").glob("*.py"))
    # Those of training/ are checked where torch is: `build.py test --training`.
    folders = ("bench", "browser", "support", "tools", "worker")
    run_tool("mypy", *tests, *(f"tests/{name}" for name in folders))
