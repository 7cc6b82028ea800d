"""Tests of training/: they need requirements/training.txt and run by `build.py test --training`.

Where torch is not installed nothing here is collected, so the everyday test run stays light.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = Path(__file__).with_name("data") / "wordnet-sample.txt"


def _zip_lines(path: Path, lines: list[str]) -> None:
    with gzip.open(path, "wt", encoding="utf8") as out:
        out.writelines(f"{line}\n" for line in lines)


@pytest.fixture(scope="session")
def sample_lines() -> list[str]:
    """The committed sample."""
    return SAMPLE.read_text(encoding="utf8").splitlines()


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory, sample_lines: list[str]) -> Path:
    """A data folder of the real layout: the sample as a source, five of its lines twice, and
    evaluation sets made up of it.

    Evaluation texts: sample lines 0–9, as STS pairs (0–5), a claim (6), an abstract (7, 8) and a
    question (9).
    """
    root = tmp_path_factory.mktemp("data")
    (root / "corpus").mkdir()
    (root / "eval").mkdir()
    again = [f"{text.upper()}!" for text in sample_lines[60:65]]
    _zip_lines(root / "corpus" / "wordnet.txt.gz", [*sample_lines, *again])
    _zip_lines(root / "corpus" / "trec_queries.txt.gz", [f"query {i} of many" for i in range(1200)])
    _zip_lines(root / "corpus" / "unlisted.txt.gz", ["this file must never be read"])
    line = sample_lines
    pairs = f'"{line[0]}","{line[1]}",3.0\n"{line[2]}","{line[3]}",1.0\n'
    (root / "eval" / "stsb-dev.csv").write_text(pairs)
    rows = f"2.0\t{line[4]}\t{line[5]}\n4.0\t{line[0]}\t{line[0]}\n\tunscored\tpair\n"
    for year in ("2012", "2013", "2014"):
        (root / "eval" / f"{year}_part.tsv").write_text(rows)
    claim = {"id": "1", "query": line[6], "relevant": ["7"]}
    (root / "eval" / "scifact-dev.jsonl").write_text(json.dumps(claim) + "\n")
    document = {"_id": "7", "title": line[7], "text": f"{line[8]}. The rest of the abstract."}
    _zip_lines(root / "eval" / "scifact-corpus.jsonl.gz", [json.dumps(document)])
    with zipfile.ZipFile(root / "eval" / "trec-qc.zip", "w") as archive:
        archive.writestr("qc/train.txt", f"DESC:def {line[9]}\nHUM:ind Who asks ?\n")
        archive.writestr("qc/test.txt", "HUM:ind Who asks ?\n")
    return root


def environment(cache: Path, data: Path | None = None) -> dict[str, str]:
    """Variables of a command that works in `cache`."""
    made = os.environ | {
        "TERN_TRAINING_CACHE": str(cache),
        "PYTHONPATH": f"{ROOT / 'pyapp'}{os.pathsep}{ROOT}",
        "OMP_NUM_THREADS": "1",
    }
    made.pop("TERN_TRAINING_DATA", None)
    return made | ({"TERN_TRAINING_DATA": str(data)} if data else {})


def run_module(cache: Path, *arguments: str, folder: Path | None = None) -> str:
    """Output of `python -m …` with the test's cache; an error shows what it wrote."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder or ROOT,
        env=environment(cache),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{arguments}\n{done.stdout}{done.stderr}"
    return done.stdout


def commands(page: str, heading: str) -> list[list[str]]:
    """The indented `$PY -m …` lines under a heading of a page of training/, without `$PY -m`."""
    text = (ROOT / "training" / page).read_text("utf-8")
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line.partition("  #")[0].strip() for line in section.splitlines()]
    return [shlex.split(line)[2:] for line in lines if line.startswith("$PY -m ")]


SMALL = (
    "batch_texts=64",
    "micro_tokens=512",
    "warm_texts=1_000",
    "check_every_texts=12_000",
    "keep_every_texts=1_000_000",
    "shape.d_model=128",
    "shape.n_heads=2",
    "shape.ffn_dim=256",
)
LENGTHS = {
    "base.toml": ("hold_texts=12_000", "decay_texts=24_000"),
    "int4-d256.toml": ("hold_texts=16_000", "shape.n_layers=1"),
    "int4-d256-decay.toml": ("decay_texts=20_000", "shape.n_layers=1"),
}


def small(command: list[str], data: Path) -> list[str]:
    """A documented command on the sample: the test's data, short runs, a narrow student."""
    command = [str(data) if part == "DIR" else part for part in command]
    command = [str(ROOT / part) if part.startswith("training/") else part for part in command]
    if command[0] == "training.distill.corpus":
        return [*command, "--scale", "0.06"]
    if command[0] == "training.distill.train":
        changes = [*SMALL, *LENGTHS[Path(command[1]).name]]
        return [*command, *(word for change in changes for word in ("--set", change))]
    return [*command, "--results", "kept"] if "--keep" in command else command


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A cache in which the README's commands were run, from the plan to the scored model.

    What they write beside it lies in its folder "work".
    """
    cache = tmp_path_factory.mktemp("cache")
    (cache / "work").mkdir()
    for command in commands("distill/README.md", "From nothing to a model"):
        run_module(cache, *small(command, data), folder=cache / "work")
    return cache
