"""The wheel tern-tools: what is in it, and that it works beside an engine build."""

from __future__ import annotations

import email
import importlib.util
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest
import tern_engine
import tern_tools
from tern_engine.format import EMBEDDING_FORMATS, Header

from tests.support.models import random_tensors

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "packaging" / "tern-tools"
BUILD = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built as pip builds it: by the backend, in the project's folder."""
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-c", BUILD, str(out)]
    done = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.strip()


def test_contents(wheel: Path) -> None:
    assert wheel.name == f"tern_tools-{tern_engine.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = f"tern_tools-{tern_tools.__version__}.dist-info"
        metadata = email.message_from_bytes(archive.read(f"{about}/METADATA"))
    package = ROOT / "pyapp" / "tern_tools"
    files = {f"tern_tools/{path.relative_to(package).as_posix()}" for path in package.rglob("*.py")}
    files |= {"tern_tools/py.typed", "tern_tools/LICENSE"}
    # The layout of every table format, of which an engine's wheel has one.
    files |= {f"tern_tools/models/tables/_{table}.py" for table in EMBEDDING_FORMATS}
    assert {name for name in names if not name.startswith(about)} == files
    assert metadata["Name"] == "tern-tools"
    stated = metadata.get_all("Requires-Dist") or []
    needs = {re.split(r"[<>=;\[]", each)[0]: each.partition("extra == ")[2] for each in stated}
    assert sorted(name for name, extra in needs.items() if not extra) == ["click", "numpy"]
    assert set(metadata.get_all("Provides-Extra") or []) == {
        "bulk", "lancedb", "models", "parquet", "ray", "sklearn", "spark", "stores",
    }  # fmt: skip
    files = ("tools", "python", "adapters", "spark")
    pins = [(ROOT / "requirements" / f"{name}.txt").read_text() for name in files]
    lines = "\n".join(pins).splitlines()
    assert set(needs) <= {line.split("==")[0] for line in lines if "==" in line}


def test_build_py_builds_the_same_wheel(wheel: Path) -> None:
    assert (ROOT / "dist" / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment in which pip installed just the two wheels."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    (engine,) = (ROOT / "dist").glob("tern_engine_emb_int4-*.whl")
    command = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
    command += ["install", "--quiet", f"{engine}[native]", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "bin"


def run(programs: Path, folder: Path, *arguments: str, **variables: str) -> str:
    """What an installed program prints, with neither this checkout nor its packages in reach."""
    done = subprocess.run(
        [str(programs / arguments[0]), *arguments[1:]],
        cwd=folder,
        env={"PATH": os.defpath, "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def test_model_files_where_just_the_wheels_are(installed: Path, tmp_path: Path) -> None:
    """An installed engine reads one table format; packing knows all four."""
    tensors = random_tensors(Header("int4", 30522, 12, 1, 4, 20, 7, 16), 1)
    np.savez(tmp_path / "w.npz", n_heads=4, max_seq_len=16, **tensors)  # type: ignore[arg-type]
    run(installed, tmp_path, "tern-engine", "pack", "w.npz", "m.bin")
    found = run(installed, tmp_path, "tern-engine", "verify", "m.bin", "--json")
    assert json.loads(found)["within_tolerance"] is True
    for table in EMBEDDING_FORMATS:
        name = f"m-{table}.bin"
        run(installed, tmp_path, "tern-engine", "convert", "m.bin", name, "--embedding", table)
        about = json.loads(run(installed, tmp_path, "tern-engine", "unpack", name, "--json"))
        assert about["header"]["embedding_format"] == table
    assert (tmp_path / "m-int4.bin").read_bytes() == (tmp_path / "m.bin").read_bytes()
    found = run(installed, tmp_path, "tern-engine", "embed", "--model", "m.bin", os.devnull)
    assert found == ""


def test_the_program_that_pip_installs(installed: Path, tmp_path: Path) -> None:
    listed = run(installed, tmp_path, "tern-engine", "--help").partition("Commands:\n")[2]
    names = [line.split()[0] for line in listed.splitlines() if line[2:3].strip()]
    assert sorted(names) == [
        "bulk", "classify", "convert", "embed", "index", "info", "pack", "search", "similarity",
        "tokenize", "unpack", "verify",
    ]  # fmt: skip
    words = {"COMP_WORDS": "tern-engine un", "COMP_CWORD": "1"}
    complete = {"_TERN_ENGINE_COMPLETE": "bash_complete", **words}
    assert run(installed, tmp_path, "tern-engine", **complete) == "plain,unpack\n"
    texts = tmp_path / "texts.txt"
    texts.write_text("a text\n")
    found = run(installed, tmp_path, "python", "-m", "tern_tools", "embed", str(texts))
    assert json.loads(found)["text"] == "a text"


def test_beside_another_engine_build(wheel: Path, tmp_path: Path) -> None:
    """An environment with the two wheels and with the pinned dependencies of this one."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (engine,) = (ROOT / "dist").glob("tern_engine_emb_ternary-*.whl")
    site = tmp_path / "site"
    for each in (wheel, engine):
        with zipfile.ZipFile(each) as archive:
            archive.extractall(site)
    numpy_at = importlib.util.find_spec("numpy")
    assert numpy_at and numpy_at.origin
    packages = Path(numpy_at.origin).parents[1]
    run = "from tern_tools.cli import main; main()"
    texts = tmp_path / "texts.txt"
    texts.write_text("one text\nanother\n")
    for arguments in (["info", "--json"], ["embed", str(texts), "-o", str(tmp_path / "t.npy")]):
        done = subprocess.run(
            [str(python), "-c", run, *arguments],
            env={"PYTHONPATH": os.pathsep.join([str(site), str(packages)])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        if arguments[0] == "info":
            assert json.loads(done.stdout)["build"] == "ternary"
    assert np.load(tmp_path / "t.npy").shape == (2, 384)


def test_without_an_engine_the_import_says_what_is_missing(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", "import tern_tools"],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "pip install 'tern-engine-emb-int4[native]'" in done.stderr.splitlines()[-1]
