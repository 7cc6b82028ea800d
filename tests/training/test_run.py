"""A whole small run: plan, teacher, training, a kill in the middle, a score."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.training.conftest import ROOT, environment, run_module
from training.distill.checkpoint import load_checkpoint, parameters
from training.distill.config import from_values
from training.distill.student import matrix_names

CONFIG = """
name = "{name}"
start = "run:base"
batch_texts = 64
micro_tokens = 512
warm_texts = 1_000
hold_texts = 6_400
decay_texts = 6_400
check_every_texts = 3_200
keep_every_texts = 1_000_000
checkpoint_minutes = {minutes}
average_texts = 3_200
settle_texts = 12_800

[shape]
d_model = 128
n_heads = 2
ffn_dim = 256
n_layers = 1
"""


def write_config(cache: Path, name: str, minutes: float = 60) -> Path:
    path = cache / f"{name}.toml"
    path.write_text(CONFIG.format(name=name, minutes=minutes))
    return path


def rows(cache: Path, name: str) -> list[dict[str, str]]:
    """Lines of a run's log."""
    with (cache / "runs" / name / "log.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_training_reaches_its_score(cache: Path) -> None:
    """0.5 on texts that were held out; the start, without training, has about 0.25."""
    first = float(rows(cache, "base")[0]["held_out_spearman"])
    static = float(rows(cache, "base")[-1]["held_out_spearman"])
    layered = float(rows(cache, "int4-d256-decay")[-1]["held_out_spearman"])
    assert static > 0.5 and layered > 0.5
    assert layered > first + 0.15
    assert layered > float(rows(cache, "int4-d256")[0]["held_out_spearman"]) - 0.02


def test_curves_are_drawn(cache: Path) -> None:
    out = cache / "curves.png"
    names = ["base", "int4-d256", "int4-d256-decay"]
    run_module(cache, "training.distill.curves", *names, "--out", str(out))
    assert out.read_bytes().startswith(b"\x89PNG")


def test_a_killed_run_ends_at_the_same_loss(cache: Path) -> None:
    whole = write_config(cache, "whole")
    run_module(cache, "training.distill.train", str(whole), "--workers", "1")
    broken = write_config(cache, "broken", 0.005)
    command = [sys.executable, "-m", "training.distill.train", str(broken), "--workers", "1"]
    checkpoint = cache / "runs" / "broken" / "checkpoint.pt"
    process = subprocess.Popen(command, cwd=ROOT, env=environment(cache), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60

    def begun() -> bool:
        """There is a checkpoint in which some weights stay as they are."""
        return checkpoint.exists() and bool(load_checkpoint(checkpoint)["stays"].any())

    while not begun() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert checkpoint.exists()
    stopped = load_checkpoint(checkpoint)
    assert 0 < stopped["texts"] < 12_800, "killed in the middle"
    run_module(cache, *command[2:])
    ends = [rows(cache, name)[-1] for name in ("whole", "broken")]
    same = ("texts", "loss", "held_out_spearman", "held_out_cosine", "tokens")
    for column in (*same, "mean_held_out_spearman", "mean_queries_cosine"):
        assert ends[0][column] == ends[1][column], column
    states = [
        load_checkpoint(cache / "runs" / name / "checkpoint.pt") for name in ("whole", "broken")
    ]
    assert states[1]["stays"].sum() > stopped["stays"].sum()
    assert states[0]["stays"].equal(states[1]["stays"])
    for mean in (False, True):
        for name, value in parameters(states[0], mean).items():
            assert value.equal(parameters(states[1], mean)[name]), (name, mean)


def test_the_mean_of_the_weights_is_kept_and_begins_another_run(cache: Path) -> None:
    """A run at full rate: its mean agrees better with the teacher; settled codes stay."""
    config = write_config(cache, "steady")
    steady = ["--workers", "1", "--set", "decay_texts=0", "--set", "hold_texts=12_800"]
    steady += ["--set", "settle_texts=0"]
    run_module(cache, "training.distill.train", str(config), *steady)
    last = rows(cache, "steady")[-1]
    assert float(last["mean_held_out_cosine"]) > float(last["held_out_cosine"])
    origin = load_checkpoint(cache / "runs" / "steady" / "checkpoint.pt")
    changes = (
        "settle_texts=0",
        'start="run:steady"',
        "start_mean=true",
        "settled=true",
        "hold_texts=1_280",
    )
    words = [word for change in changes for word in ("--set", change)]
    config = write_config(cache, "settled")
    run_module(cache, "training.distill.train", str(config), "--workers", "1", *words)
    first = rows(cache, "settled")[0]
    assert first["held_out_cosine"] == last["mean_held_out_cosine"]
    state = load_checkpoint(cache / "runs" / "settled" / "checkpoint.pt")
    shape = from_values(state["config"]).shape
    mean = parameters(origin, mean=True)
    for name in matrix_names(shape):
        assert state["params"][name].equal(mean[name]), name
    for name in ("embedding.weight", "out.weight", "layers.0.ffn.up.bias", "ln_final.weight"):
        assert not state["params"][name].equal(mean[name]), name


def test_a_mean_that_was_not_kept_is_missed(cache: Path) -> None:
    state = load_checkpoint(cache / "runs" / "int4-d256-decay" / "checkpoint.pt")
    with pytest.raises(SystemExit, match="int4-d256-decay kept no mean of its weights"):
        parameters(state, mean=True)


def test_the_run_keeps_its_config(cache: Path) -> None:
    kept = json.loads((cache / "runs" / "int4-d256-decay" / "config.json").read_text())
    assert kept["shape"]["d_model"] == 128
    assert kept["decay_texts"] == 20_000
