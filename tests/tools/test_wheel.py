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
    assert {name for name in names if not name.startswith(about)} == files
    assert metadata["Name"] == "tern-tools"
    stated = metadata.get_all("Requires-Dist") or []
    needs = {re.split("[<>=;]", each)[0]: each.partition("extra == ")[2] for each in stated}
    assert sorted(name for name, extra in needs.items() if not extra) == ["click", "numpy"]
    assert set(metadata.get_all("Provides-Extra") or []) == {
        "bulk", "parquet", "sklearn", "stores",
    }  # fmt: skip
    pins = [(ROOT / "requirements" / f"{name}.txt").read_text() for name in ("tools", "python")]
    lines = "\n".join(pins).splitlines()
    assert set(needs) <= {line.split("==")[0] for line in lines if "==" in line}


def test_build_py_builds_the_same_wheel(wheel: Path) -> None:
    assert (ROOT / "dist" / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.parametrize("table", ["int4", "ternary"])
def test_installed_beside_an_engine_build(wheel: Path, tmp_path: Path, table: str) -> None:
    """An environment with the two wheels and with the pinned dependencies of this one."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (engine,) = (ROOT / "dist").glob(f"tern_engine_emb_{table}-*.whl")
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
            assert json.loads(done.stdout)["build"] == table
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
