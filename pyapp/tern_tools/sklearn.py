"""Texts in, embeddings out, for scikit-learn's pipelines. Needs the extra `sklearn`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from tern_engine import Engine
from tern_engine.errors import InvalidInputError

from ._check import listed

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        "tern_tools.sklearn needs scikit-learn: pip install 'tern-tools[sklearn]'"
    ) from _error


class TextEmbedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Makes features of texts: the embedding's floats, named textembedder0 and so on.

    There is nothing to learn, so that fit() only checks its arguments and transform() works
    without. Copies of one process share an engine for each model; another process loads its own.

    Attributes after fit(): `fingerprint_`, the model's SHA-256 in hex.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        batch_size: int = 32,
        num_workers: int = 0,
    ) -> None:
        """`model`: a model file's path, or None for the build's own; the rest as Engine.encode."""
        self.model = model
        self.batch_size = batch_size
        self.num_workers = num_workers

    def fit(self, X: Sequence[str], y: Any = None) -> Self:
        """Check that X holds texts, and load the engine. Raises InvalidInputError, ModelError."""
        _check_texts(X)
        self.fingerprint_ = self._engine().fingerprint
        return self

    def transform(self, X: Sequence[str]) -> NDArray[np.float32]:
        """float32 [n, dim]: the embedding of each text of X, a list, array or column of str."""
        texts = _check_texts(X)
        engine = self._engine()
        vectors: NDArray[np.float32] = engine.encode(
            texts, self.batch_size, num_workers=self.num_workers
        )
        return vectors

    @property
    def _n_features_out(self) -> int:
        return self._engine().dim

    def _engine(self) -> Engine:
        return _shared_engine(None if self.model is None else os.fspath(self.model))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        return tags


@cache
def _shared_engine(model: str | None) -> Engine:
    return Engine.load(model)


def _check_texts(texts: Any) -> list[str]:
    if getattr(texts, "ndim", 1) != 1:
        raise InvalidInputError(
            field="X",
            found=f"of {texts.ndim} dimensions",
            expected="one column of str: in a ColumnTransformer give its name without a list",
        )
    found = listed(texts, "X")
    for i, text in enumerate(found):
        if not isinstance(text, str):
            raise InvalidInputError(
                field=f"X[{i}]", found=f"a {type(text).__name__}", expected="a str"
            )
    return found
