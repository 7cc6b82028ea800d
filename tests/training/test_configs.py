"""Every committed config loads, states its model's size and takes a step."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from tern_engine.errors import ModelShapeError

from training.distill.config import model_bytes, read_config
from training.distill.encode import save_arrays
from training.distill.student import Shape, matrix_names
from training.distill.train import Run

CONFIGS = sorted(
    (Path(__file__).parents[2] / "training" / "distill" / "configs").glob("*.toml"),
    key=lambda path: path.stem,
)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache whose corpus "main" is one chunk of random ids and vectors."""
    cache = tmp_path_factory.mktemp("configs")
    corpus = cache / "corpus" / "main"
    corpus.mkdir(parents=True)
    rng = np.random.default_rng(1)
    lengths = rng.integers(3, 30, 64)
    vectors = rng.standard_normal((64, 384))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    save_arrays(
        corpus / "chunk_0000.npz",
        ids=rng.integers(1, 30522, lengths.sum()).astype(np.uint16),
        length=lengths.astype(np.uint8),
        vectors=vectors.astype(np.float16),
    )
    tokens = rng.standard_normal((30522, 384)).astype(np.float16)
    save_arrays(corpus / "tokens.npz", vectors=tokens)
    return cache


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_takes_a_step(path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERN_TRAINING_CACHE", str(cache))
    sample = ['start="static"', 'corpus="main"', "keep_state=false", "first_chunk=0"]
    config = read_config(path, [*sample, "batch_texts=32"])
    assert config.name == path.stem
    comment = " ".join(line[1:] for line in path.read_text().splitlines() if line[:1] == "#")
    stated = re.findall(r"([\d,]+) bytes", comment)
    assert stated == ([f"{model_bytes(config.shape):,}"] if config.shape.n_layers else [])
    run = Run(config, 1)
    before = {name: value.clone() for name, value in run.params.items()}
    run.step()
    assert 0.5 < run.loss < 1.5, "random targets"
    kept = set(matrix_names(config.shape)) if config.settled else set()
    for name, value in run.params.items():
        assert torch.isfinite(value).all(), name
        assert torch.equal(value, before[name]) == (name in kept), name


def test_starts_are_configs_too() -> None:
    names = {path.stem for path in CONFIGS}
    for path in CONFIGS:
        start = read_config(path, []).start
        assert start == "static" or start.removeprefix("run:") in names, path.stem


def test_a_shape_beyond_the_format_is_refused() -> None:
    with pytest.raises(ModelShapeError, match="d_model"):
        model_bytes(Shape(d_model=258))


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(SystemExit, match="unknown setting 'rate'"):
        read_config(CONFIGS[0], ["rate=1"])
