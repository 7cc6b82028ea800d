"""The record of what a model learned from, and the way of a checkpoint into all four formats."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tern_engine.format import EMBEDDING_FORMATS
from tern_tools.models.codes import quantize_table
from tern_tools.models.unpack import UnpackedModel

from tests.training.conftest import run_module
from training.distill.checkpoint import load_checkpoint, save_checkpoint
from training.distill.config import from_values
from training.distill.export import export
from training.distill.record import history, record
from training.distill.sources import record_faults
from training.distill.student import quantize_rows
from training.eval import card
from training.pack.__main__ import main as pack_main

RUNS = ["base", "int4-d256", "int4-d256-decay"]


@pytest.fixture
def copied(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's plan, chunks and runs where they may be damaged."""
    for name in ("corpus", "runs"):
        shutil.copytree(cache / name, tmp_path / name)
    monkeypatch.setenv("TERN_TRAINING_CACHE", str(tmp_path))
    return tmp_path


def test_the_packed_model_carries_its_record(cache: Path) -> None:
    """Exported and packed by the README's commands."""
    sidecar = json.loads((cache / "work" / "model-int4.json").read_text("utf-8"))
    training = sidecar["training"]
    assert record_faults(training) == []
    assert [run["name"] for run in training["runs"]] == RUNS
    assert [run["config"]["start"] for run in training["runs"]] == [
        "static",
        "run:base",
        "run:int4-d256",
    ]
    texts = [run["texts"] for run in training["runs"]]
    assert texts == [36_032, 16_000, 20_032] and training["texts_seen"] == sum(texts)
    assert training["cpu_minutes"] > 0
    (plan,) = training["plans"]
    assert plan["evaluation_texts"] == 0
    assert plan["texts_in_chunks"] == plan["texts"] > 1_000
    lines = {source["name"]: source for source in plan["sources"]}
    assert set(lines) == {"trec_queries", "wordnet"}
    assert lines["wordnet"]["dropped_evaluation"] == 10
    assert lines["wordnet"]["taken"] > 1_000 and lines["wordnet"]["made"]["span"] > 0
    assert str(cache) not in json.dumps(sidecar)


def test_older_checkpoints_get_their_history_from_the_runs(copied: Path) -> None:
    """The long run went on after the branch: its part is counted to the branch."""
    state = load_checkpoint("run:int4-d256-decay")
    known = state.pop("history")
    longer = load_checkpoint("run:int4-d256")
    longer["texts"] *= 2
    longer["tokens"] *= 2
    longer["dense"]["steps"] *= 2
    del longer["history"]
    save_checkpoint(copied / "runs" / "int4-d256" / "checkpoint.pt", longer)
    found = history(state)
    assert [run["config"]["name"] for run in found] == RUNS[:2]
    assert [run["texts"] for run in found] == [run["texts"] for run in known]
    assert found[1]["tokens"] == known[1]["tokens"]


def test_a_resumed_run_keeps_its_history(cache: Path) -> None:
    before = load_checkpoint(cache / "runs" / "int4-d256-decay" / "checkpoint.pt")["history"]
    assert [run["config"]["name"] for run in before] == RUNS[:2]
    # Started again at its end, it loads its checkpoint and stops.
    config = json.loads((cache / "runs" / "int4-d256-decay" / "config.json").read_text())
    from training.distill.train import Run

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TERN_TRAINING_CACHE", str(cache))
        assert Run(from_values(config), 1).state()["history"] == before


def test_other_texts_than_the_plan_are_refused(copied: Path) -> None:
    state = load_checkpoint("run:base")
    assert record(state)["sources_cleared"]
    path = copied / "corpus" / "main" / "chunk_0000.npz"
    with np.load(path) as held:
        arrays = dict(held)
    arrays["ids"][5] ^= 1
    np.savez(path, allow_pickle=False, **arrays)
    with pytest.raises(SystemExit, match="holds other texts than the plan"):
        record(state)
    path.unlink()
    with pytest.raises(SystemExit, match="is missing: the record compares"):
        record(state)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a text of another origin\tnltk\n", r"texts of \['nltk'\], which sources\.py"),
        ("{held_out}\twordnet\n", "has a held-out text"),
        ("{evaluation}\twordnet\n", "has 1 evaluation texts"),
    ],
)
def test_a_plan_with_a_wrong_text_is_refused(
    copied: Path, data: Path, sample_lines: list[str], line: str, message: str
) -> None:
    folder = copied / "corpus" / "main"
    held_out = gzip.decompress((folder / "held_out.txt.gz").read_bytes()).decode()
    path = folder / "plan.txt.gz"
    added = line.format(held_out=held_out.split("\t")[0], evaluation=sample_lines[3])
    path.write_bytes(path.read_bytes() + gzip.compress(added.encode()))
    state = load_checkpoint("run:base")
    state["data"]["seen"] = {}
    with pytest.raises(SystemExit, match=message):
        record(state, data)
    path.unlink()
    with pytest.raises(SystemExit, match=r"no .*plan\.txt\.gz"):
        record(state)


@pytest.mark.parametrize("table", EMBEDDING_FORMATS)
def test_a_checkpoint_in_each_format_keeps_its_trained_scales(
    cache: Path, tmp_path: Path, table: str
) -> None:
    state = load_checkpoint(cache / "runs" / "int4-d256-decay" / "checkpoint.pt")
    source, target = tmp_path / "a.safetensors", tmp_path / "a.bin"
    export(state, source, {"sources": []}, table)
    assert pack_main(["pack", str(source), str(target), "--embedding", table]) == 0
    model = UnpackedModel.from_file(target)
    latent = state["params"]["embedding.weight"].clone()
    latent[0] = 0
    stored = torch.from_numpy(model.tensors["embedding"].copy())
    if table == "fp32":
        assert torch.equal(stored, latent)
        return
    clip = from_values(state["config"]).shape.table_clip
    codes, scale = quantize_rows(latent, table, clip)
    assert torch.equal(stored[1:].float(), codes[1:])
    np.testing.assert_array_equal(model.tensors["embedding.scale"][1:], scale[1:, 0].numpy())
    assert not stored[0].any()
    if table != "int8":  # whose rule for a float table is the trained one
        packed = quantize_table(table, latent.numpy())[1]
        assert np.mean(packed != model.tensors["embedding.scale"]) > 0.9


def test_the_card_names_the_commands_of_the_readme(cache: Path) -> None:
    """What the card says to run is what the README's test has run."""
    record = json.loads((cache / "work" / "model-int4.json").read_text("utf-8"))
    lines, _ = card._reproduce({"model-int4.bin": record})
    page = (card.ROOT / "training" / "distill" / "README.md").read_text("utf-8")
    for line in lines.splitlines():
        command = line.strip().removeprefix("python -m ")
        generic = command.replace("model-int4.safetensors", "model.safetensors")
        assert f"$PY -m {generic}" in page, line


def test_commands_say_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="no checkpoint at"):
        run_module(tmp_path, "training.distill.export", "run:none", str(tmp_path / "a.safetensors"))


def test_the_plan_before_the_trained_one_states_its_sources(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = {"config": {"name": "r", "start": "static", "corpus": "later"}, "chunks": ["chunk_0.npz"]}
    monkeypatch.setattr(
        "training.distill.record.before", lambda _: [{**run, "texts": 1, "tokens": 1, "spent": 1}]
    )

    def plan(name: str, chunks: list[str], data: Path | None) -> dict[str, Any]:
        found: dict[str, Any] = {"name": name, "chunks": len(chunks), "sources": []}
        return found | ({"after": "main"} if name == "later" else {})

    monkeypatch.setattr("training.distill.record._plan", plan)
    plans = record({})["plans"]
    assert [(p["name"], p["chunks"]) for p in plans] == [("main", 0), ("later", 1)]
