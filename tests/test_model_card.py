"""What the sidecars, the model card and the kept scores say about the committed models."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import save_file

from tests.support.models import TINY, random_tensors
from training.distill.sources import SOURCES, record_faults
from training.eval import card, looks, report
from training.pack.__main__ import main as pack_main

ROOT = Path(__file__).resolve().parents[1]
SIDECARS = sorted((ROOT / "assets").glob("model-*.json"))

CLEARED: dict[str, Any] = {
    "sources_cleared": True,
    "method": "distillation",
    "teacher": {"model": "a teacher", "licence": "Apache-2.0", "package": "a package"},
    "texts_seen": 3_000,
    "cpu_minutes": 1.5,
    "sources": [{"name": SOURCES[0].name, "licence": SOURCES[0].licence}],
    "plans": [
        {
            "name": "main",
            "sha256": "ab" * 32,
            "texts": 2_500,
            "held_out": 20,
            "chunks": 1,
            "texts_in_chunks": 2_400,
            "evaluation_texts": 0,
            "sources": [
                {
                    "name": SOURCES[0].name,
                    "licence": SOURCES[0].licence,
                    "lines": 9_876,
                    "dropped_evaluation": 12,
                    "dropped_duplicate": 0,
                    "taken": 2_000,
                    "made": {"span": 500},
                }
            ],
        }
    ],
    "runs": [
        {
            "name": "base",
            "texts": 3_000,
            "tokens": 30_000,
            "cpu_minutes": 1.5,
            "config": {
                "start": "static",
                "shape": {"n_layers": 0},
                "rates": {"matrices": 0.002, "table": 0.02, "rest": 0.001},
                "decay_texts": 1_000,
            },
        }
    ],
}


def changed(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(CLEARED) | changes


@pytest.mark.parametrize("path", SIDECARS, ids=lambda path: path.stem)
def test_a_committed_model_says_what_it_learned_from(path: Path) -> None:
    record = json.loads(path.read_text("utf-8"))
    assert record_faults(record["training"]) == []
    if not record["training"].get("sources_cleared"):
        assert any("NLTK" in note for note in record["notes"]), "say so in words, too"


def test_every_committed_model_has_a_sidecar() -> None:
    models = {path.stem for path in (ROOT / "assets").glob("model-*.bin")}
    assert models == {path.stem for path in SIDECARS} and models


def test_a_record_in_order_has_no_faults() -> None:
    assert record_faults(CLEARED) == []


@pytest.mark.parametrize(
    ("training", "fault"),
    [
        (changed(sources=[{"name": "nltk", "licence": "varies"}]), "nltk is no cleared source"),
        (
            changed(sources=[{"name": SOURCES[0].name, "licence": "MIT"}]),
            f"{SOURCES[0].name} is {SOURCES[0].licence}, not MIT",
        ),
        (changed(plans=[]), "no plan"),
        (
            changed(plans=[{"sources": [{"name": "nltk", "licence": "varies"}]}]),
            "nltk is in a plan only",
        ),
        (changed(sources_cleared=False), "all sources are cleared, but no command says so"),
    ],
)
def test_faults_of_a_record(training: dict[str, Any], fault: str) -> None:
    assert fault in record_faults(training)


def test_the_card_and_the_report_are_current() -> None:
    """Else: python -m training.eval.card, and `--keep` of the last scoring."""
    assert card.CARD.read_text("utf-8") == card.card()
    assert (report.FOLDER / "RESULTS.md").read_text("utf-8") == report.report()


def test_the_card_has_the_scores_of_the_committed_files() -> None:
    results = report.kept_results()
    text = card.CARD.read_text("utf-8")
    for path in SIDECARS:
        record = json.loads(path.read_text("utf-8"))
        (result, *_) = [r for r in results.values() if r.get("sha256") == record["sha256"]]
        assert record["sha256"] in text
        assert f"{result['scores']['SciFact NDCG@10']:.3f}" in text
        for source in record["training"]["sources"]:
            assert f"| {source['name']} |" in text


@pytest.fixture
def assets(tmp_path: Path) -> Path:
    """A folder with the committed int4 model under a record that a command made."""
    record = json.loads((ROOT / "assets" / "model-int4.json").read_text("utf-8"))
    record["training"] = CLEARED
    (tmp_path / "model-int4.bin").write_bytes(b"")
    (tmp_path / "model-int4.json").write_text(json.dumps(record))
    return tmp_path


def test_a_card_of_a_recorded_model(assets: Path) -> None:
    text = card.card(assets)
    assert f"| {SOURCES[0].name} | {SOURCES[0].licence} | 9,876 | 12 | 2,000 | 500 span |" in text
    assert "ab" * 32 in text and "none of its texts is an evaluation text" in text
    assert "| base | static | 0 | 3,000 | 1.5 | 0.002, 0.02, 0.001; to zero |" in text
    assert "training/distill/configs/base.toml" in text
    assert "export run:base model-int4.safetensors" in text
    assert "Teacher: a teacher (Apache-2.0)" in text


def test_a_card_of_two_plans_shows_what_the_second_adds(assets: Path) -> None:
    record = json.loads((assets / "model-int4.json").read_text("utf-8"))
    training = copy.deepcopy(CLEARED)
    wide = copy.deepcopy(training["plans"][0]) | {"name": "wide", "after": "main"}
    wide["sources"][0]["made"] = {"span": 500, "edited": 77}
    record["training"] = training | {"plans": [*training["plans"], wide], "weights": "the mean"}
    (assets / "model-int4.json").write_text(json.dumps(record))
    text = card.card(assets)
    assert f"| {SOURCES[0].name} | {SOURCES[0].licence} | 77 edited |" in text
    assert text.count("| 9,876 |") == 1 and text.count("Plan `") == 2
    assert "extend --data DIR --after main --name wide\n" in text
    assert "encode --data DIR --name wide\n" in text
    assert "export run:base model-int4.safetensors --data DIR --mean" in text


def test_a_card_tells_which_run_kept_its_codes(assets: Path) -> None:
    record = json.loads((assets / "model-int4.json").read_text("utf-8"))
    record["training"] = copy.deepcopy(CLEARED)
    record["training"]["runs"][0]["config"]["settled"] = True
    (assets / "model-int4.json").write_text(json.dumps(record))
    assert "| base | static | 0 | 3,000 | 1.5 | kept, 0.02, 0.001; to zero |" in card.card(assets)


def test_a_model_without_scores_has_no_card(assets: Path) -> None:
    path = assets / "model-int4.json"
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"sha256": "00" * 32}))
    with pytest.raises(SystemExit, match=r"no kept result of model-int4\.bin"):
        card.card(assets)


def test_models_of_one_training_share_its_words(assets: Path) -> None:
    record = json.loads((assets / "model-int4.json").read_text("utf-8"))
    (assets / "model-int8.bin").write_bytes(b"")
    (assets / "model-int8.json").write_text(json.dumps(record | {"file": "model-int8.bin"}))
    assert card.card(assets).count("9,876") == 1
    record["training"] = changed(texts_seen=1_234)
    (assets / "model-int8.json").write_text(json.dumps(record | {"file": "model-int8.bin"}))
    text = card.card(assets)
    assert text.count("9,876") == 1 and "1,234 texts" in text and "3,000 texts" in text


def test_check_tells_an_old_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["card", "--check"])
    assert card.main() == 0
    monkeypatch.setattr(card, "CARD", tmp_path / "MODEL_CARD.md")
    assert card.main() == 1
    monkeypatch.setattr("sys.argv", ["card"])
    assert card.main() == 0
    assert card.CARD.read_text("utf-8") == card.card()


# --- the record's way into the sidecar


def test_a_record_travels_from_the_export_to_every_sidecar(tmp_path: Path) -> None:
    source = tmp_path / "a.safetensors"
    numbers = {"n_heads": str(TINY.n_heads), "max_seq_len": str(TINY.max_seq_len)}
    tensors = random_tensors(TINY, 1)
    save_file(tensors, source, metadata=numbers | {"training": json.dumps(CLEARED)})
    first, second = tmp_path / "a.bin", tmp_path / "b.bin"
    assert pack_main(["pack", str(source), str(first), "--embedding", "int4"]) == 0
    assert pack_main(["convert", str(first), str(second), "--embedding", "int8"]) == 0
    for path in (first, second):
        assert json.loads(path.with_suffix(".json").read_text("utf-8"))["training"] == CLEARED

    # The sidecar of another file says nothing about this one.
    first.write_bytes(second.read_bytes())
    assert pack_main(["convert", str(first), str(second), "--embedding", "int8"]) == 0
    assert "training" not in json.loads(second.with_suffix(".json").read_text("utf-8"))


# --- looks


def result(date: str, sha256: str, *measures: str) -> dict[str, Any]:
    scores = dict.fromkeys(measures, 0.5)
    return {"date": date, "model": "m", "sha256": sha256, "scores": scores}


def test_looks_are_carried_over_once_and_counted(tmp_path: Path) -> None:
    committed = tmp_path / "kept.jsonl"
    looks.note(result("2", "a", "STS-B dev", "STS 2012 all"), tmp_path)
    looks.note(result("1", "b", "STS-B dev"), tmp_path)
    looks.carry_over(tmp_path, committed)
    looks.note(result("3", "a", "SciFact NDCG@10 passages", "SciFact recall@10"), tmp_path)
    for _ in range(2):
        looks.carry_over(tmp_path, committed)
    rows = [json.loads(line) for line in committed.read_text("utf-8").splitlines()]
    assert [row["date"] for row in rows] == ["1", "2", "3"]
    counted = looks.counts(committed)
    assert counted["STS-B dev"] == (2, 2)
    assert counted["STS 2012"] == (1, 1)
    assert counted["SciFact"] == (1, 1)
    assert counted["TREC-6"] == (0, 0)


def test_the_report_has_a_table_a_kind(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    scored = result("1", "ab", "STS-B dev") | {"command": "score it", "note": "a first try"}
    tables = {"fp32": {"STS-B dev": 0.75}, "int4": {"STS-B dev": 0.7251}}
    costs = {"model": "run:a", "date": "1", "command": "score all", "tables": tables}
    (folder / "one.json").write_text(json.dumps(scored))
    (folder / "tables.json").write_text(json.dumps(costs))
    report.write_report(tmp_path)
    text = (tmp_path / "RESULTS.md").read_text("utf-8")
    assert "| measure | one |" in text and "| STS-B dev | 0.500 |" in text
    assert "| one | m | 1 | ab |" in text
    assert "## tables: one checkpoint in each table format" in text
    assert "| measure | fp32 | int4 |" in text and "| STS-B dev | 0.750 | 0.725 |" in text
    assert "- one: a first try" in text
    assert "- one: `score it`" in text and "- tables: `score all`" in text


def test_a_plan_that_only_a_later_one_was_made_of() -> None:
    record = copy.deepcopy(CLEARED)
    record["plans"][0] |= {"chunks": 0, "texts_in_chunks": 0}
    found = card._data(record)
    assert "evaluation text; a later plan goes on from it." in found
    assert "token ids" not in found


def test_what_models_share_stands_once() -> None:
    parts = {"a.bin": "one\n\ntwo", "b.bin": "one\n\nthree", "c.bin": "one\n\ntwo"}
    assert card._by_model(parts) == "one\n\n`a.bin`, `c.bin`:\n\ntwo\n\n`b.bin`:\n\nthree"
    assert card._by_model({"a.bin": "one", "b.bin": "one"}) == "one"
