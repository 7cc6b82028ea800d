"""The site of a model that is not the committed one: build.py web --model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import build as build_script
from tools import recipes

ROOT = Path(__file__).resolve().parent.parent
TEXT = "where does the river meet the sea"
IN_PYTHON = """
import sys, tern_engine
sys.stdout.buffer.write(bytes(tern_engine.embed(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where both sites are built, the second with what the first made."""
    made = tmp_path_factory.mktemp("other")
    (made / "build").mkdir()
    return made


@pytest.mark.parametrize(("name", "table"), [("ternary", "ternary"), ("int4-d384", "int4")])
def test_a_site_and_a_worker_of_another_model(
    name: str,
    table: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(recipes, "BUILD", folder / "build")
    monkeypatch.setattr(recipes, "DIST", folder / "dist")
    monkeypatch.setattr(recipes, "report", lambda made, cache: None)  # sizes take their time
    model = ROOT / "assets" / f"model-{name}.bin"
    making = recipes.Recipes(model)
    worker, site = making.worker(), folder / "dist" / "web"
    assert worker == folder / "dist" / "worker"
    # pip finds no wheel of it in the place of the committed model's.
    assert list((folder / "dist").glob("*.whl")) == []
    making.report()
    fingerprint = sha256(model.read_bytes()).hexdigest()
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{site}, {worker}: model {model.name}, fingerprint {fingerprint}"
    assert (worker / "assets" / "model.bin").read_bytes() == model.read_bytes()
    manifest = json.loads((site / "manifest.json").read_text("utf-8"))
    assert manifest["name"] == f"tern-engine-emb-{table}"
    assert manifest["embedding"] == table
    assert manifest["files"]["model"]["sha256"] == manifest["fingerprint"] == fingerprint

    command = ["node", str(ROOT / "tests" / "support" / "embed_with.mjs"), str(site), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["summary"]["build"] == table
    package = folder / "build" / "chosen" / "package"
    expected = subprocess.run(
        [sys.executable, "-c", IN_PYTHON, TEXT],
        env={**os.environ, "PYTHONPATH": str(package)}, capture_output=True, check=True,
    ).stdout  # fmt: skip
    np.testing.assert_array_equal(
        np.array(found["vector"], np.float32), np.frombuffer(expected, np.float32)
    )


@pytest.mark.parametrize("target", ["web", "demo", "worker", "wheel"])
def test_a_missing_model_is_a_message(target: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        build_script.parser().parse_args([target, "--model", "none.bin"])
    assert ended.value.code == 2
    assert "none.bin is no file" in capsys.readouterr().err


def test_another_file_is_refused_with_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.bin"
    other.write_bytes(b"x" * 5000)
    options = build_script.parser().parse_args(["web", "--model", str(other)])
    assert build_script.TARGETS["web"].run(options) == 1
    assert capsys.readouterr().err.startswith("MODEL_MAGIC: tern-engine: ")
