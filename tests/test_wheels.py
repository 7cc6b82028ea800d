"""What is in each wheel, and that it is built the same each time."""

from __future__ import annotations

import base64
import csv
import email
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.wheels import (
    ROOT,
    TABLES,
    VERSION,
    contents,
    info_folder,
    metadata,
    stamp,
    wheel_path,
)
from tools.recipes import Recipes
from tools.sizes import measure

MODEL_BYTES = {"int4": 4_839_512, "int8": 8_746_328, "ternary": 2_886_104, "fp32": 32_065_136}


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_a_wheel_holds_one_build_and_nothing_else(table: str) -> None:
    names = set(contents(table))
    command = ["git", "ls-files", "pyapp/tern_engine"]
    sources = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    package = {
        name.removeprefix("pyapp/")
        for name in sources.split()
        if not name.endswith((".c", ".h")) and "/embeddings/_" not in name
    }
    package |= {
        "tern_engine/embeddings/__init__.py",
        f"tern_engine/embeddings/_{table}.py",
        f"tern_engine/_build_{table}.py",
        "tern_engine/data/model.bin",
        "tern_engine/data/vocab.txt",
        "tern_engine/data/kernels.wasm",
    }
    about = {"METADATA", "WHEEL", "RECORD"}
    about |= {f"licenses/{name}" for name in ("LICENSE", "THIRD_PARTY_NOTICES.md")}
    about.add("licenses/LICENSES/Apache-2.0.txt")
    assert names == package | {f"{info_folder(table)}/{name}" for name in about}


def test_the_stamp_tells_the_build(table: str) -> None:
    model = contents(table)["tern_engine/data/model.bin"]
    values = stamp(table)
    assert values["EMBEDDING"] == table
    assert values["VERSION"] == VERSION
    assert values["MODEL_BYTES"] == len(model) == MODEL_BYTES[table]
    assert values["MODEL_SHA256"] == hashlib.sha256(model).hexdigest()


@pytest.mark.parametrize("trained", ["int4", "ternary"])
def test_the_wheel_of_a_trained_table_holds_the_committed_model(trained: str) -> None:
    committed = (ROOT / "assets" / f"model-{trained}.bin").read_bytes()
    assert contents(trained)["tern_engine/data/model.bin"] == committed


def test_the_vocabulary_is_the_tokenizer_files(table: str) -> None:
    text = contents(table)["tern_engine/data/vocab.txt"].decode()
    lines = text.split("\n")
    assert lines.pop() == ""  # a line break ends each
    vocab = json.loads((ROOT / "assets/tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    assert len(lines) == 30522
    assert {line: index for index, line in enumerate(lines)} == vocab


def test_the_kernel_has_one_table_loader_and_no_needs(table: str) -> None:
    """Four kernels that differ (each has its own loader) but little (none has the others')."""
    wasmtime = pytest.importorskip("wasmtime")
    kernels = {name: contents(name)["tern_engine/data/kernels.wasm"] for name in TABLES}
    kernel = kernels[table]
    module = wasmtime.Module(wasmtime.Engine(), kernel)
    assert list(module.imports) == []
    assert "memory" in {export.name for export in module.exports}
    assert 10_000 < len(kernel) < 64_000
    assert len(set(kernels.values())) == len(TABLES)
    assert max(map(len, kernels.values())) - min(map(len, kernels.values())) < 1_000
    # Neither names of functions nor of the compiler and the folders it ran in.
    folder = re.escape(str(ROOT).encode())
    assert not re.search(rb"read_row|clang|zig|kernels/|" + folder, kernel)


def test_the_metadata_is_complete(table: str) -> None:
    about = metadata(table)
    assert about["Name"] == f"tern-engine-emb-{table}"
    assert about["Version"] == VERSION
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT"
    assert about.get_all("Provides-Extra") == ["native"]
    required = about.get_all("Requires-Dist") or []
    assert all(line.endswith("extra == 'native'") for line in required)
    assert {re.split(r"[^a-z]", line)[0] for line in required} == {"numpy", "wasmtime"}
    readme = (ROOT / "README.md").read_text("utf-8")
    raw = contents(table)[f"{info_folder(table)}/METADATA"].decode()
    assert raw.split("\n\n", 1)[1].strip() == readme.strip()
    wheel = email.message_from_bytes(contents(table)[f"{info_folder(table)}/WHEEL"])
    assert wheel["Root-Is-Purelib"] == "true"
    assert wheel.get_all("Tag") == ["py3-none-any"]


def test_the_record_matches(table: str) -> None:
    files = contents(table)
    record = f"{info_folder(table)}/RECORD"
    rows = list(csv.reader(io.StringIO(files[record].decode())))
    assert {row[0] for row in rows} == set(files)
    for name, found, size in rows:
        if name != record:
            content = files[name]
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert (found, size) == (f"sha256={digest.decode()}", str(len(content)))


def test_every_size_is_printed(table: str, tmp_path: Path) -> None:
    path = wheel_path(table)
    raw, gzipped, brotli = measure([path], tmp_path / "sizes.json")[path]
    assert raw == path.stat().st_size
    assert raw * 0.9 < gzipped < raw * 1.01
    assert raw * 0.9 < brotli < raw * 1.01


def test_the_same_input_gives_the_same_bytes(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.recipes.BUILD", tmp_path / "build")
    built = Recipes().wheel(table, ROOT / "build/models" / f"model-{table}.bin", tmp_path / "out")
    assert built.read_bytes() == wheel_path(table).read_bytes()


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout's sdist. Also a test that build.py does not get in the way of -m build."""
    out: Path = tmp_path_factory.mktemp("sdist")
    run("-m", "build", "--sdist", "--no-isolation", "--outdir", str(out))
    (path,) = out.glob("*.tar.gz")
    return path


def run(*arguments: str) -> None:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_the_plain_project_builds_the_int4_wheel(sdist: Path, tmp_path: Path) -> None:
    """In an isolated environment that holds only what pyproject.toml asks for."""
    run("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(sdist))
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == wheel_path("int4").name
    assert wheel.read_bytes() == wheel_path("int4").read_bytes()


def test_the_sdist_holds_what_a_wheel_is_built_from(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"pyproject.toml", "hatch_build.py", "assets/model-int4.bin"} <= names
    assert not any("/data/" in name or "_build_" in name.split("/")[-1] for name in names)
    assert not any(name.startswith(("tests", "web", "node_modules")) for name in names)
