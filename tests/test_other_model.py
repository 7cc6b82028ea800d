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
MODEL = ROOT / "assets" / "model-ternary.bin"
TEXT = "where does the river meet the sea"
IN_PYTHON = """
import sys, tern_engine
sys.stdout.buffer.write(bytes(tern_engine.embed(sys.argv[1])))
"""


def test_a_site_of_another_model_and_table_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipes, "BUILD", tmp_path / "build")
    monkeypatch.setattr(recipes, "DIST", tmp_path / "dist")
    (tmp_path / "build").mkdir()
    site = recipes.Recipes(MODEL).site()
    assert site == tmp_path / "dist" / "web"
    manifest = json.loads((site / "manifest.json").read_text("utf-8"))
    assert manifest["name"] == "tern-engine-emb-ternary"
    assert manifest["embedding"] == "ternary"
    assert manifest["files"]["model"]["sha256"] == sha256(MODEL.read_bytes()).hexdigest()

    command = ["node", str(ROOT / "tests" / "support" / "embed_with.mjs"), str(site), TEXT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "ternary" in json.dumps(found["summary"])
    package = tmp_path / "build" / "packages" / "ternary"
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
