"""Zero-shot and few-shot classification: which of some labels is nearest in meaning to a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ._check import check, check_engine, check_string
from .similarity import as_vector, cosines


class LabelScore(NamedTuple):
    """score: a cosine, -1…1."""

    label: str
    score: float


@runtime_checkable
class BatchEmbedder(Protocol):
    """What classification needs of an engine."""

    def embed_batch(self, texts: Sequence[str]) -> Any: ...


def classify(
    engine: BatchEmbedder,
    text: str,
    labels: Sequence[str] | Mapping[str, Sequence[str]],
    *,
    threshold: float = float("-inf"),
) -> list[LabelScore]:
    """Every label with the cosine of its embedding to the text's, best first.

    Labels are texts themselves and are understood as such: "a complaint about delivery" separates
    better than "3b". Where labels come with examples, those speak for them, and not their names:
    the score is the cosine to the sum of the examples' embeddings. Equal scores keep the labels'
    order; labels that score less than `threshold` are left out. The same as web/classify.js.

    It embeds the labels at each call: for several texts make one Classifier. Raises
    InvalidInputError for a text, a label or an example that is no str, a label without examples,
    a threshold that is no number.
    """
    return Classifier(engine, labels).classify(text, threshold=threshold)


class Classifier:
    """classify() for any number of texts, with the same scores: the labels are embedded once."""

    def __init__(
        self, engine: BatchEmbedder, labels: Sequence[str] | Mapping[str, Sequence[str]]
    ) -> None:
        """Raises InvalidInputError as classify() does."""
        check_engine(engine, BatchEmbedder)
        classes = _examples(labels)
        self._engine = engine
        self._labels = [label for label, _ in classes]
        self._totals = _totals(engine, [examples for _, examples in classes])

    def classify(self, text: str, *, threshold: float = float("-inf")) -> list[LabelScore]:
        """The labels of one text, best first. Raises InvalidInputError as classify() does."""
        check_string(text, "text")
        return self.classify_batch([text], threshold=threshold)[0]

    def classify_batch(
        self, texts: Sequence[str], *, threshold: float = float("-inf")
    ) -> list[list[LabelScore]]:
        """The labels of each text, best first. Raises InvalidInputError as classify() does."""
        check(
            isinstance(threshold, (int, float)) and threshold == threshold,
            f"threshold must be a number, found {threshold!r}",
        )
        vectors = self._engine.embed_batch(texts)
        return [self._ranked(as_vector(vector, "an embedding"), threshold) for vector in vectors]

    def _ranked(self, vector: NDArray[np.float64], threshold: float) -> list[LabelScore]:
        if not self._labels:
            return []
        scores = cosines(vector, self._totals).tolist()
        found = [LabelScore(*each) for each in zip(self._labels, scores, strict=True)]
        found.sort(key=lambda hit: -hit.score)
        return [hit for hit in found if hit.score >= threshold]


def _totals(engine: BatchEmbedder, groups: list[list[str]]) -> NDArray[np.float64]:
    """The sum of each group's embeddings, from the first to the last: float64 [n, dim]."""
    vectors = iter(engine.embed_batch([text for group in groups for text in group]))
    totals = []
    for group in groups:
        first, *others = (as_vector(next(vectors), "an embedding") for _ in group)
        totals.append(sum(others, first))
    return np.array(totals)


def _examples(labels: Any) -> list[tuple[str, list[str]]]:
    if isinstance(labels, Mapping):
        for label, examples in labels.items():
            check_string(label, "a label")
            check(
                isinstance(examples, (list, tuple)) and len(examples) > 0,
                f"the examples of {label} must be a list of str that is not empty",
            )
            for example in examples:
                check_string(example, f"an example of {label}")
        return [(label, list(examples)) for label, examples in labels.items()]
    check(
        isinstance(labels, (list, tuple)),
        f"labels must be a list of str or a dict of examples, found {type(labels).__name__}",
    )
    for i, label in enumerate(labels):
        check_string(label, f"labels[{i}]")
    return [(label, [label]) for label in labels]
