"""Zero-shot and few-shot classification: which of some labels is nearest in meaning to a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ._check import check, check_string
from .similarity import similarity


class LabelScore(NamedTuple):
    """score: a cosine, -1…1."""

    label: str
    score: float


class BatchEmbedder(Protocol):
    """What classify needs of an engine."""

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

    Raises InvalidInputError for a text, a label or an example that is no str, a label without
    examples, a threshold that is no number.
    """
    check_string(text, "text")
    check(
        isinstance(threshold, (int, float)) and threshold == threshold,
        f"threshold must be a number, found {threshold!r}",
    )
    classes = _examples(labels)
    vectors = engine.embed_batch([text, *(each for _, found in classes for each in found)])
    scores = []
    first = 1
    for label, examples in classes:
        total = np.zeros(len(vectors[0]))
        for vector in vectors[first : first + len(examples)]:
            total += np.asarray(vector)
        first += len(examples)
        scores.append(LabelScore(label, similarity(vectors[0], total)))
    scores.sort(key=lambda found: -found.score)
    return [found for found in scores if found.score >= threshold]


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
