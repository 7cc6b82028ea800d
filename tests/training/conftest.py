"""Tests of training/: they need requirements/training.txt and run by `build.py test --training`.

Where torch is not installed nothing here is collected, so the everyday test run stays light.
"""

from __future__ import annotations

import gzip
import json
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]

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
    """A data folder of the real layout: the sample as a source, and evaluation sets made up of it.

    Evaluation texts: sample lines 0–9, as STS pairs (0–5), a claim (6), an abstract (7, 8) and a
    question (9).
    """
    root = tmp_path_factory.mktemp("data")
    (root / "corpus").mkdir()
    (root / "eval").mkdir()
    _zip_lines(root / "corpus" / "wordnet.txt.gz", sample_lines)
    _zip_lines(root / "corpus" / "trec_queries.txt.gz", [f"query {i} of many" for i in range(1200)])
    _zip_lines(root / "corpus" / "unlisted.txt.gz", ["this file must never be read"])
    line = sample_lines
    pairs = f'"{line[0]}","{line[1]}",3.0\n"{line[2]}","{line[3]}",1.0\n'
    (root / "eval" / "stsb-dev.csv").write_text(pairs)
    (root / "eval" / "2012_part.tsv").write_text(f"2.0\t{line[4]}\t{line[5]}\n\tunscored\tpair\n")
    claim = {"id": "1", "query": line[6], "relevant": ["7"]}
    (root / "eval" / "scifact-dev.jsonl").write_text(json.dumps(claim) + "\n")
    document = {"_id": "7", "title": line[7], "text": f"{line[8]}. The rest of the abstract."}
    _zip_lines(root / "eval" / "scifact-corpus.jsonl.gz", [json.dumps(document)])
    with zipfile.ZipFile(root / "eval" / "trec-qc.zip", "w") as archive:
        archive.writestr("qc/train.txt", f"DESC:def {line[9]}\n")
        archive.writestr("qc/test.txt", "HUM:ind Who asks ?\n")
    return root
