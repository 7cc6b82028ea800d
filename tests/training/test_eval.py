"""Scoring: the measures on sets whose answers are known, and the command on a small model."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tern_engine.errors import BuildMissingError

from tests.training.conftest import ROOT, commands, run_module, small
from training.eval import sets
from training.eval.__main__ import shown
from training.eval.engines import Engines, slices
from training.eval.inputs import SETS, check_inputs, chosen_sets
from training.eval.teacher_cache import CachedTeacher

INT4 = ROOT / "assets" / "model-int4.bin"

# Added to the engine: every vector's components in reverse.
WRONG = """
_right = Engine.embed
Engine.embed = lambda self, text: _right(self, text)[::-1].copy()
"""


def told(vectors: dict[str, Sequence[float]]) -> sets.Encode:
    """An encoder that has its unit vectors by heart."""

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([vectors[text] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    return encode


def test_sts_is_spearman_of_cosines(tmp_path: Path) -> None:
    encode = told({"a": [1, 0], "b": [1, 0.2], "c": [1, 2], "d": [0, 1]})
    (tmp_path / "stsb-dev.csv").write_text("a,b,5\na,c,2\na,d,0.5\n")
    (tmp_path / "2012_x.tsv").write_text("1\ta\tb\n2\ta\tc\n3\ta\td\n")  # the wrong way round
    (tmp_path / "2012_y.tsv").write_text("3\ta\tb\n2\ta\tc\n1\ta\td\n\tno\tscore\n")
    for year in ("2013", "2014"):
        (tmp_path / f"{year}_x.tsv").write_text("3\ta\tb\n1\ta\tc\n2\ta\td\n")
    found = sets.sts(encode, tmp_path)
    assert found["STS-B dev"] == pytest.approx(1)
    assert found["STS 2012 mean"] == pytest.approx(0)
    assert found["STS 2012 all"] == pytest.approx(0)
    assert found["STS 2013 mean"] == found["STS 2014 all"] == pytest.approx(0.5)


def test_scifact_ranks_abstracts_whole_and_by_passage(tmp_path: Path) -> None:
    """The long abstract's second passage is what the second claim asks for."""
    long = " ".join(["first"] * sets.PASSAGE_WORDS + ["second"])
    documents = [
        {"_id": "1", "title": "t", "text": long},
        {"_id": "2", "title": "u", "text": "other"},
        {"_id": "3", "title": "v", "text": "third"},
    ]
    claims = [
        {"query": "q", "relevant": ["2", "3"]},
        {"query": "r", "relevant": ["1"]},
    ]
    with gzip.open(tmp_path / "scifact-corpus.jsonl.gz", "wt") as out:
        out.writelines(json.dumps(document) + "\n" for document in documents)
    lines = "".join(json.dumps(claim) + "\n" for claim in claims)
    (tmp_path / "scifact-dev.jsonl").write_text(lines)
    first, second = sets.passages("t", long)
    assert second == "t second"
    encode = told(
        {
            f"t {long}": [0.5, 0, 1],
            "u other": [1, 0, 0],
            "v third": [0, 1, 0],
            first: [0, 0, 1],
            second: [0, 1, 0.1],
            "q": [1, 0.2, 0],
            "r": [0, 1, 0.1],
        }
    )
    found = sets.scifact(encode, tmp_path, True, True)
    # q ranks 2, 1, 3: gains at places 1 and 3 of an ideal 1 and 2. r ranks 3, 1, 2.
    gain = 1 / np.log2(np.arange(2, 5))
    wanted = ((gain[0] + gain[2]) / (gain[0] + gain[1]) + gain[1]) / 2
    assert found["SciFact NDCG@10"] == pytest.approx(wanted)
    assert found["SciFact recall@10"] == 1
    # By passage: 2, 3, 1, and 1 first.
    assert found["SciFact NDCG@10 passages"] == pytest.approx(1)
    assert set(sets.scifact(encode, tmp_path, True, False)) == set(found) - {
        "SciFact NDCG@10 passages",
        "SciFact recall@10 passages",
    }


def test_recall_counts_the_first_ten() -> None:
    scores = np.linspace(1, 0, 12, dtype=np.float32)[None]
    ndcg, recall = sets._retrieval(scores, [{0, 11}])
    assert recall == 0.5
    assert ndcg == pytest.approx(1 / (1 + 1 / np.log2(3)))


def test_trec_by_centroid_and_by_regression(tmp_path: Path) -> None:
    """Most of class A lies opposite, and its centroid with it; a line still separates them."""
    with zipfile.ZipFile(tmp_path / "trec-qc.zip", "w") as archive:
        archive.writestr("qc/train.txt", "A:x a\nA:y far\nA:y far\nB:z c\nB:z c\n" * 20)
        archive.writestr("qc/test.txt", "A:x a\nB:z c\n")
    encode = told({"a": [1, 0], "far": [-1, 0.2], "c": [0.3, 0.95]})
    found = sets.trec(encode, tmp_path)
    assert found["TREC-6 nearest centroid"] == 0.5
    assert found["TREC-6 logistic regression"] == 1


def test_agreement_with_the_teacher_is_of_cosines() -> None:
    rng = np.random.default_rng(1)
    teacher = rng.standard_normal((50, 8)).astype(np.float32)
    teacher /= np.linalg.norm(teacher, axis=1, keepdims=True)
    turned = teacher @ np.linalg.qr(rng.standard_normal((8, 8)))[0].astype(np.float32)
    found = sets.teacher_agreement(lambda texts: turned, [""] * 50, teacher, "x")
    assert found["x spearman to teacher"] == pytest.approx(1, abs=1e-4)
    assert found["x cosine to teacher"] < 0.9


# --- where vectors come from


def test_requests_hold_every_text_once_and_the_longest_first() -> None:
    texts = ["b" * n for n in (5, 900, 10, 5_000, 300)]
    groups = slices(texts, 1_000)
    assert groups == [[3], [1], [4, 2, 0]]
    assert slices([], 10) == []


def test_the_engines_give_the_engines_vectors() -> None:
    from tern_engine import Engine

    texts = ["a cat on the mat", "quarterly report " * 80, "", "a cat on the mat", "dogs"]
    with Engines(INT4, 2) as engines:
        found = engines.encode(texts)
    engine = Engine.load(INT4)
    np.testing.assert_array_equal(found, [engine.embed(text) for text in texts])


def test_an_engine_that_is_built_anew_meanwhile_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.eval import engines

    shutil.copytree(ROOT / "pyapp" / "tern_engine", tmp_path / "tern_engine")
    monkeypatch.setattr(engines, "package_path", lambda table: tmp_path)
    with Engines(INT4, 1) as opened:
        before = opened.encode(["a sentence"])
        shutil.rmtree(tmp_path / "tern_engine")
        np.testing.assert_array_equal(opened.encode(["a sentence"]), before)
        kernel = (ROOT / "pyapp" / "tern_engine" / "data" / "kernels.wasm").read_bytes()
        assert opened.host == f"tern-engine, kernel {hashlib.sha256(kernel).hexdigest()[:12]}"


def test_an_engine_that_computes_something_else_scores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from training.eval import engines

    shutil.copytree(ROOT / "pyapp" / "tern_engine", tmp_path / "tern_engine")
    path = tmp_path / "tern_engine" / "engine.py"
    path.write_text(path.read_text("utf-8") + WRONG, "utf-8")
    monkeypatch.setattr(engines, "package_path", lambda table: tmp_path)
    with pytest.raises(SystemExit, match="the int4 build is not the reference"):
        Engines(INT4, 1)


def test_the_teachers_vectors_are_kept(tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        asked.append(list(texts))
        return np.full((len(texts), 384), len(asked), np.float32)

    for _ in range(2):
        teacher = CachedTeacher(tmp_path, lambda: encode)
        assert teacher.encode(["a", "b"])[0, 0] == 1
        assert teacher.encode(["ab"])[0, 0] == 2
    assert asked == [["a", "b"], ["ab"]]


# --- the command


def test_the_documented_scoring(cache: Path) -> None:
    """A packed model of the sample's training, scored by the README's command."""
    work = cache / "work" / "kept"
    kept = json.loads((work / "results" / "model-int4.json").read_text("utf-8"))
    sidecar = json.loads((cache / "work" / "model-int4.json").read_text("utf-8"))
    assert kept["sha256"] == sidecar["sha256"] and kept["host"].startswith("tern-engine, kernel ")
    command = "python -m training.eval model-int4.bin --data"
    assert kept["command"].startswith(command) and "/" not in kept["command"]
    assert kept["scores"]["2,000 texts spearman to teacher"] > 0.5
    assert kept["scores"]["SciFact NDCG@10 passages"] == 1, "of one abstract"
    assert len(kept["scores"]) == 4 + 7 + 2 + 4
    assert "| model-int4 | model-int4.bin |" in (work / "RESULTS.md").read_text("utf-8")
    assert kept["sha256"] in (work / "looks.jsonl").read_text("utf-8")
    row = (cache / "runs" / "int4-d256-decay" / "log.csv").read_text().splitlines()[-1].split(",")
    head = (cache / "runs" / "int4-d256-decay" / "log.csv").read_text().splitlines()[0].split(",")
    trained = float(row[head.index("held_out_spearman")])
    scored = kept["scores"]["2,000 texts spearman to teacher"]
    assert scored == pytest.approx(trained, abs=2e-3), "the engine computes what was trained"


def test_the_documented_commands_of_eval(cache: Path, data: Path, tmp_path: Path) -> None:
    shutil.copy(cache / "work" / "model-int4.bin", tmp_path)
    done = commands("eval/README.md", "Commands")
    assert [command[1] for command in done] == [
        "model-int4.bin",
        "teacher",
        "run:int4-d256-decay",
        "torch:run:base",
    ]
    for command in done:
        run_module(cache, *small(command, data), folder=tmp_path)
    results = tmp_path / "kept" / "results"
    teacher = json.loads((results / "teacher.json").read_text("utf-8"))
    assert teacher["scores"]["1,000 web queries spearman to teacher"] == 1
    costs = json.loads((results / "tables.json").read_text("utf-8"))["tables"]
    assert list(costs) == ["fp32", "int8", "ternary", "int4"]
    key = "2,000 texts spearman to teacher"
    assert costs["int8"][key] == pytest.approx(costs["fp32"][key], abs=0.01)
    assert costs["ternary"][key] < costs["int4"][key]


def test_missing_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "stsb-dev.csv").write_text("a,b,1\n")
    with pytest.raises(SystemExit) as refused:
        check_inputs(tmp_path, tmp_path / "main", SETS)
    text = str(refused.value)
    for name in ("2012_*.tsv", "trec-qc.zip", "scifact-dev.jsonl", "trec_queries.txt.gz"):
        assert name in text
    assert "held_out.txt.gz (made by python -m training.distill.corpus" in text
    assert "stsb-dev.csv" not in text
    with pytest.raises(AssertionError, match=r"trec-qc\.zip \(TREC questions"):
        run_module(
            tmp_path, "training.eval", str(INT4), "--data", str(tmp_path), "--sets", "sts,trec"
        )
    with pytest.raises(AssertionError, match="say where the data is"):
        run_module(tmp_path, "training.eval", str(INT4))


def test_sets_are_chosen_by_name() -> None:
    assert chosen_sets("scifact,sts") == ("sts", "scifact")
    for wrong in ("", "sts,nli"):
        with pytest.raises(SystemExit, match="expected some of texts,queries"):
            chosen_sets(wrong)


def test_a_bin_has_no_float_table(cache: Path, data: Path) -> None:
    with pytest.raises(AssertionError, match="--tables needs a checkpoint"):
        run_module(cache, "training.eval", str(INT4), "--data", str(data), "--tables")


def test_a_missing_build_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from training.pack import engine_process

    monkeypatch.setattr(engine_process, "ROOT", tmp_path)
    with pytest.raises(BuildMissingError, match="no int4 build"):
        Engines(INT4)


def test_commands_are_kept_without_folders() -> None:
    assert shown(str(INT4)) == "assets/model-int4.bin"
    assert shown("/elsewhere/a/b.bin") == "b.bin"
    assert shown("torch:/elsewhere/a/b.bin") == "torch:b.bin"
    assert shown("run:x") == "run:x" and shown("--keep") == "--keep"
