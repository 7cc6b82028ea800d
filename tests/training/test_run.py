"""A whole small run: plan, teacher, training, a kill in the middle, a score."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from training.distill.checkpoint import load_checkpoint

ROOT = Path(__file__).resolve().parents[2]

CONFIG = """
name = "{name}"
start = "{start}"
batch_texts = 64
micro_tokens = 512
warm_texts = 1_000
hold_texts = {hold}
decay_texts = {decay}
check_every_texts = {check}
keep_every_texts = 1_000_000
checkpoint_minutes = {minutes}

[shape]
d_model = 128
n_heads = 2
ffn_dim = 256
n_layers = {layers}

[rates]
table = {table}
"""


def run_module(cache: Path, *arguments: str) -> str:
    """Output of `python -m …` with the test's cache."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=environment(cache),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def environment(cache: Path) -> dict[str, str]:
    return os.environ | {
        "TERN_TRAINING_CACHE": str(cache),
        "PYTHONPATH": f"{ROOT / 'pyapp'}{os.pathsep}{ROOT}",
        "OMP_NUM_THREADS": "1",
    }


def write_config(folder: Path, name: str, **settings: object) -> Path:
    values: dict[str, object] = {
        "start": "static",
        "hold": 12_000,
        "decay": 24_000,
        "check": 12_000,
        "minutes": 60,
        "layers": 0,
        "table": 2e-2,
    }
    path = folder / f"{name}.toml"
    path.write_text(CONFIG.format(name=name, **(values | settings)))
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A cache with the sample's plan and the teacher's vectors."""
    cache = tmp_path_factory.mktemp("cache")
    run_module(cache, "training.distill.corpus", "--data", str(data), "--scale", "0.06")
    run_module(cache, "training.distill.encode", "--data", str(data), "--threads", "2")
    return cache


def last_row(cache: Path, name: str) -> dict[str, str]:
    lines = (cache / "runs" / name / "log.csv").read_text().splitlines()
    return dict(zip(lines[0].split(","), lines[-1].split(","), strict=True))


def test_training_reaches_its_score(cache: Path) -> None:
    base = write_config(cache, "base")
    run_module(cache, "training.distill.train", str(base), "--workers", "1")
    layers = write_config(cache, "layers", start="run:base", layers=1, table=5e-3)
    run_module(cache, "training.distill.train", str(layers), "--workers", "2")
    start = (cache / "runs" / "base" / "log.csv").read_text().splitlines()
    first = dict(zip(start[0].split(","), start[1].split(","), strict=True))
    row = last_row(cache, "layers")
    assert float(row["held_out_spearman"]) > 0.5
    assert float(row["held_out_spearman"]) > float(first["held_out_spearman"]) + 0.1
    assert float(last_row(cache, "base")["held_out_spearman"]) > 0.5
    curves = cache / "curves.png"
    run_module(cache, "training.distill.curves", "base", "layers", "--out", str(curves))
    assert curves.read_bytes().startswith(b"\x89PNG")


def test_a_killed_run_ends_at_the_same_loss(cache: Path) -> None:
    settings = {"hold": 6_400, "decay": 6_400, "check": 3_200, "layers": 1, "table": 5e-3}
    whole = write_config(cache, "whole", **settings)
    run_module(cache, "training.distill.train", str(whole), "--workers", "1")
    broken = write_config(cache, "broken", minutes=0.005, **settings)
    command = [sys.executable, "-m", "training.distill.train", str(broken), "--workers", "1"]
    checkpoint = cache / "runs" / "broken" / "checkpoint.pt"
    process = subprocess.Popen(command, cwd=ROOT, env=environment(cache), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert checkpoint.exists()
    stopped = load_checkpoint(checkpoint)["texts"]
    assert 0 < stopped < 12_800, "killed in the middle"
    subprocess.run(command, cwd=ROOT, env=environment(cache), check=True, capture_output=True)
    ends = [last_row(cache, name) for name in ("whole", "broken")]
    for column in ("texts", "loss", "held_out_spearman", "held_out_cosine", "tokens"):
        assert ends[0][column] == ends[1][column], column
    states = [
        load_checkpoint(cache / "runs" / name / "checkpoint.pt") for name in ("whole", "broken")
    ]
    for name, value in states[0]["params"].items():
        assert value.equal(states[1]["params"][name]), name


def test_the_run_keeps_its_config(cache: Path) -> None:
    kept = json.loads((cache / "runs" / "whole" / "config.json").read_text())
    assert kept["shape"]["d_model"] == 128
    assert kept["decay_texts"] == 6_400
