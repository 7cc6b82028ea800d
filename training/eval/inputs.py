"""The files that scoring reads, looked for before anything is computed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from training.distill.sources import HELD_OUT_QUERY_SOURCE

SETS = ("texts", "queries", "sts", "trec", "scifact", "passages")

# Paths under the data folder, a pattern where one file or more must match, and what is in them.
_SCIFACT = {
    "eval/scifact-corpus.jsonl.gz": "SciFact's abstracts: _id, title, text",
    "eval/scifact-dev.jsonl": "SciFact's claims: query, relevant (a list of _id)",
}
_FILES = {
    "queries": {
        f"corpus/{HELD_OUT_QUERY_SOURCE}.txt.gz": "web queries, one a line, of which the 1,000 "
        "with the smallest SHA-256 are scored"
    },
    "sts": {
        "eval/stsb-dev.csv": "STS-B dev: sentence, sentence, score",
        "eval/2012_*.tsv": "STS 2012: score, sentence, sentence",
        "eval/2013_*.tsv": "STS 2013: score, sentence, sentence",
        "eval/2014_*.tsv": "STS 2014: score, sentence, sentence",
    },
    "trec": {"eval/trec-qc.zip": "TREC questions: qc/train.txt and qc/test.txt, label, question"},
    "scifact": _SCIFACT,
    "passages": _SCIFACT,
}


def chosen_sets(given: str) -> tuple[str, ...]:
    """Names of a comma-separated list, in the order of SETS. SystemExit for an unknown one."""
    names = [name for name in given.split(",") if name]
    unknown = [name for name in names if name not in SETS]
    if unknown or not names:
        raise SystemExit(f"--sets: found {given!r}, expected some of {','.join(SETS)}")
    return tuple(name for name in SETS if name in names)


def check_inputs(data: Path, corpus: Path, sets: Collection[str]) -> None:
    """SystemExit that names every missing file of the chosen sets and says what it should hold."""
    missing = {
        str(data / pattern): what
        for name in sets
        for pattern, what in _FILES.get(name, {}).items()
        if not any(data.glob(pattern))
    }
    held_out = corpus / "held_out.txt.gz"
    if "texts" in sets and not held_out.exists():
        missing[str(held_out)] = "made by python -m training.distill.corpus --data DIR"
    if missing:
        lines = [f"  {path} ({what})" for path, what in missing.items()]
        raise SystemExit("\n".join(["missing files; --sets leaves sets out:", *lines]))
