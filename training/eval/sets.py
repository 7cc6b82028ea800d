"""The sets: agreement with the teacher, STS, SciFact retrieval, TREC question classes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from training.distill.measure import agreement, spearman
from training.distill.textkeys import read_lines, sts_rows, trec_questions

Vectors = NDArray[np.float32]
Encode = Callable[[Sequence[str]], Vectors]
Scores = dict[str, float]

STS_YEARS = ("2012", "2013", "2014")
TOP = 10
PASSAGE_WORDS = 80


def teacher_agreement(encode: Encode, texts: Sequence[str], teacher: Vectors, name: str) -> Scores:
    """Spearman over 20,000 random pairs, and the mean cosine to the teacher's vectors."""
    got = encode(texts)
    return {
        f"{name} spearman to teacher": agreement(got, teacher),
        f"{name} cosine to teacher": float((got * teacher).sum(1).mean()),
    }


def _pair_score(encode: Encode, rows: list[tuple[str, str, float]]) -> float:
    first = encode([row[0] for row in rows])
    second = encode([row[1] for row in rows])
    return spearman((first * second).sum(1), np.array([row[2] for row in rows]))


def sts(encode: Encode, evaluation: Path) -> Scores:
    """STS-B dev, and per year the mean of its files and the score of all its pairs together."""
    scores = {"STS-B dev": _pair_score(encode, sts_rows(evaluation / "stsb-dev.csv"))}
    for year in STS_YEARS:
        files = [sts_rows(path) for path in sorted(evaluation.glob(f"{year}_*.tsv"))]
        scores[f"STS {year} mean"] = float(np.mean([_pair_score(encode, rows) for rows in files]))
        scores[f"STS {year} all"] = _pair_score(encode, [row for rows in files for row in rows])
    return scores


def passages(title: str, text: str) -> list[str]:
    """The document in runs of PASSAGE_WORDS words, each behind the title."""
    words = text.split()
    cuts = range(0, max(1, len(words)), PASSAGE_WORDS)
    return [f"{title} {' '.join(words[at : at + PASSAGE_WORDS])}" for at in cuts]


def _retrieval(scores: Vectors, relevant: list[set[int]]) -> tuple[float, float]:
    """NDCG@10 and recall@10 of scores [queries, documents]."""
    gains = 1 / np.log2(np.arange(2, TOP + 2))
    ndcg, recall = [], []
    for row, wanted in zip(scores, relevant, strict=True):
        best = np.argsort(-row, kind="stable")[:TOP]
        hits = np.array([document in wanted for document in best])
        ndcg.append(float((gains[: len(hits)] * hits).sum() / gains[: min(TOP, len(wanted))].sum()))
        recall.append(float(hits.sum() / min(TOP, len(wanted))))
    return float(np.mean(ndcg)), float(np.mean(recall))


def scifact(
    encode: Encode, evaluation: Path, whole: bool = True, by_passage: bool = True
) -> Scores:
    """Claims against abstracts, by title and text cut at 128 tokens, and by the best passage."""
    documents = [json.loads(line) for line in read_lines(evaluation / "scifact-corpus.jsonl.gz")]
    place = {document["_id"]: i for i, document in enumerate(documents)}
    lines = (evaluation / "scifact-dev.jsonl").read_text(encoding="utf8").splitlines()
    claims = [json.loads(line) for line in lines]
    relevant = [{place[name] for name in claim["relevant"]} for claim in claims]
    queries = encode([claim["query"] for claim in claims])
    found: Scores = {}
    if whole:
        vectors = encode([f"{document['title']} {document['text']}" for document in documents])
        ndcg, recall = _retrieval(queries @ vectors.T, relevant)
        found = {"SciFact NDCG@10": ndcg, "SciFact recall@10": recall}
    if not by_passage:
        return found
    parts = [passages(document["title"], document["text"]) for document in documents]
    pieces = encode([piece for part in parts for piece in part])
    edges = np.cumsum([0] + [len(part) for part in parts[:-1]])
    best = np.maximum.reduceat(queries @ pieces.T, edges, axis=1)
    ndcg, recall = _retrieval(best, relevant)
    return found | {"SciFact NDCG@10 passages": ndcg, "SciFact recall@10 passages": recall}


def _logistic(train: Vectors, labels: NDArray[np.int64], test: Vectors) -> NDArray[np.int64]:
    """Classes of `test` by multinomial logistic regression, L2 as in the usual C = 1."""
    x, y = torch.from_numpy(train), torch.from_numpy(labels)
    weight = torch.zeros(int(y.max()) + 1, x.shape[1], requires_grad=True)
    bias = torch.zeros(len(weight), requires_grad=True)
    solver = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        solver.zero_grad()
        fit = torch.nn.functional.cross_entropy(x @ weight.T + bias, y, reduction="sum")
        value: torch.Tensor = fit + 0.5 * weight.square().sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    solver.step(loss)  # type: ignore[no-untyped-call]
    with torch.no_grad():
        found = (torch.from_numpy(test) @ weight.T + bias).argmax(1)
    return np.asarray(found.numpy(), np.int64)


def trec(encode: Encode, evaluation: Path) -> Scores:
    """Accuracy on the six question classes: nearest centroid and logistic regression."""
    parts = trec_questions(evaluation / "trec-qc.zip")
    names = sorted({label.split(":")[0] for label, _ in parts["train"]})
    labels = {
        part: np.array([names.index(label.split(":")[0]) for label, _ in rows])
        for part, rows in parts.items()
    }
    vectors = {part: encode([text for _, text in rows]) for part, rows in parts.items()}
    train, wanted = vectors["train"], labels["train"]
    centres = np.stack([train[wanted == i].mean(0) for i in range(len(names))])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    nearest = (vectors["test"] @ centres.T).argmax(1)
    fitted = _logistic(train, wanted, vectors["test"])
    return {
        "TREC-6 nearest centroid": float((nearest == labels["test"]).mean()),
        "TREC-6 logistic regression": float((fitted == labels["test"]).mean()),
    }
