"""Wheels install, alone and beside others, and work."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.support.wheels import ROOT, TABLES, VERSION, stamp, wheel_path


class Environment:
    """A virtual environment of its own, empty but for what is installed with this one's pip."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=False)
        self.python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    def pip(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self.python), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        # -I: neither this folder nor PYTHONPATH is there to import from.
        command = [str(self.python), "-I", "-c", code]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def answer(self, code: str) -> Any:
        done = self.run(code)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


EMBED = """
import hashlib, json, tern_engine
texts = ["The tern crossed the sea.", "", "naïve café ΟΔΟΣ", "word " * 300]
vectors = [tern_engine.embed(text) for text in texts]
print(json.dumps({
    "version": tern_engine.__version__,
    "type": type(vectors[0]).__name__,
    "hash": hashlib.sha256(b"".join(bytes(vector) for vector in vectors)).hexdigest(),
    "squares": [float(sum(x * x for x in vector)) for vector in vectors],
    "summary": json.loads(tern_engine.config_summary()),
}))
"""


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("native") / "venv")
    environment.pip("install", "--quiet", f"{wheel_path('int4')}[native]")
    return environment


def test_the_wheel_embeds_where_only_it_and_its_extra_are_installed(native: Environment) -> None:
    answer = native.answer(EMBED)
    assert answer["version"] == VERSION
    assert answer["type"] == "ndarray"
    assert answer["squares"] == pytest.approx([1.0] * 4, abs=1e-5)
    assert answer["summary"]["build"] == "int4"
    assert answer["summary"]["fingerprint"] == stamp("int4")["MODEL_SHA256"]


def test_numpy_is_not_needed_and_changes_no_bit(native: Environment, tmp_path: Path) -> None:
    without = Environment(tmp_path / "venv")
    without.pip("install", "--quiet", "wasmtime==50.0.1")
    without.pip("install", "--quiet", "--no-deps", str(wheel_path("int4")))
    answer = without.answer(EMBED)
    assert answer["type"] == "array"
    assert answer["hash"] == native.answer(EMBED)["hash"]


def test_without_wasmtime_the_error_names_the_extra(tmp_path: Path) -> None:
    bare = Environment(tmp_path / "venv")
    bare.pip("install", "--quiet", str(wheel_path("int4")))
    answer = bare.answer("""
import json, tern_engine
try:
    tern_engine.embed("text")
except tern_engine.TernError as error:
    print(json.dumps([error.code, str(error)]))
""")
    assert answer[0] == "KERNEL_MISSING"
    assert "[native]" in answer[1]


def test_two_builds_side_by_side_are_told_apart_at_import(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "venv")
    for table in ("int4", "int8"):
        environment.pip("install", "--quiet", "--no-deps", str(wheel_path(table)))
    done = environment.run("import tern_engine")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "BuildConflictError" in last
    assert "tern-engine-emb-int4" in last and "tern-engine-emb-int8" in last


@pytest.mark.parametrize("table", TABLES)
def test_each_unpacked_package_is_its_build(table: str) -> None:
    package = ROOT / "build" / "packages" / table
    command = [sys.executable, "-c", EMBED]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(package)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)["summary"]
    assert summary["build"] == summary["embedding_format"] == table
    assert summary["fingerprint"] == stamp(table)["MODEL_SHA256"]


def test_the_checkout_itself_is_the_int4_build() -> None:
    assert importlib.util.find_spec("tern_engine._build_int4") is not None
    import tern_engine

    assert tern_engine.__version__ == VERSION
    assert json.loads(tern_engine.config_summary())["build"] == "int4"
