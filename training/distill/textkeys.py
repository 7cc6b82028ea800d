"""What counts as the same text, and the texts that training must never see."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from training.distill.sources import HELD_OUT_QUERIES, HELD_OUT_QUERY_SOURCE

_NOT_WORD = re.compile(r"[^0-9a-z]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def key(text: str) -> str:
    """The text as letters and digits with single spaces: equal keys are the same text to us."""
    return _NOT_WORD.sub(" ", text.lower()).strip()


def rank(text: str, salt: str = "") -> str:
    """A reproducible random order: SHA-256 of salt + text, hexadecimal."""
    return hashlib.sha256((salt + text).encode()).hexdigest()


def sentences(text: str) -> list[str]:
    """Cut after sentence-final punctuation."""
    return _SENTENCE_END.split(text)


def read_lines(path: Path) -> Iterator[str]:
    """Non-empty lines of a gzip text file."""
    with gzip.open(path, "rt", encoding="utf8") as lines:
        for line in lines:
            text = line.rstrip("\n")
            if text:
                yield text


def held_out_queries(corpus: Path) -> list[str]:
    """The unseen web queries: the lines of the query source with the smallest SHA-256."""
    lines = read_lines(corpus / f"{HELD_OUT_QUERY_SOURCE}.txt.gz")
    return sorted(lines, key=rank)[:HELD_OUT_QUERIES]


def sts_rows(path: Path) -> list[tuple[str, str, float]]:
    """Scored pairs of one STS file; rows without a score are left out."""
    rows: list[tuple[str, str, float]] = []
    if path.suffix == ".csv":
        with path.open(encoding="utf8", newline="") as lines:
            for first, second, score in csv.reader(lines):
                rows.append((first, second, float(score)))
        return rows
    for line in path.read_text(encoding="utf8").splitlines():
        score_text, first, second = line.split("\t")[:3]
        if score_text.strip():
            rows.append((first, second, float(score_text)))
    return rows


def trec_questions(path: Path) -> dict[str, list[tuple[str, str]]]:
    """TREC question classes: {"train": [(label, question)…], "test": …}."""
    parts: dict[str, list[tuple[str, str]]] = {}
    with zipfile.ZipFile(path) as archive:
        for part in ("train", "test"):
            text = archive.read(f"qc/{part}.txt").decode("latin-1")
            rows = [line.split(" ", 1) for line in io.StringIO(text) if " " in line]
            parts[part] = [(label, question.strip()) for label, question in rows]
    return parts


def _evaluation_texts(evaluation: Path) -> Iterator[str]:
    for path in sorted(evaluation.glob("*.tsv")):
        for line in path.read_text(encoding="utf8").splitlines():
            yield from line.split("\t")[1:3]  # unscored rows too
    for path in sorted(evaluation.glob("*.csv")):
        for first, second, _ in sts_rows(path):
            yield first
            yield second
    for line in (evaluation / "scifact-dev.jsonl").read_text(encoding="utf8").splitlines():
        yield json.loads(line)["query"]
    for line in read_lines(evaluation / "scifact-corpus.jsonl.gz"):
        document = json.loads(line)
        yield document["title"]
        yield document["text"]
        yield from sentences(document["text"])
    for rows in trec_questions(evaluation / "trec-qc.zip").values():
        for _, question in rows:
            yield question


def forbidden_keys(data: Path) -> set[str]:
    """Keys of every evaluation text, sentence by sentence too, and of the unseen queries."""
    keys = {key(text) for text in _evaluation_texts(data / "eval")}
    keys |= {key(text) for text in held_out_queries(data / "corpus")}
    keys.discard("")
    return keys


def is_forbidden(text: str, forbidden: set[str]) -> bool:
    """True where the text, or a whole sentence of it, belongs to an evaluation."""
    return key(text) in forbidden or any(
        len(part) > 20 and key(part) in forbidden for part in sentences(text)
    )


def unique(texts: Iterable[str], seen: set[str]) -> Iterator[str]:
    """Texts whose key is new; `seen` grows."""
    for text in texts:
        name = key(text)
        if name and name not in seen:
            seen.add(name)
            yield text
