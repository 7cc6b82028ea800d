"""An engine with the methods of sentence_transformers.SentenceTransformer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine import Engine
from tern_engine.errors import DimensionError, InvalidInputError

from ._check import check, check_string, listed
from .pool import EnginePool


class SentenceModel:
    """Stands where code expects a SentenceTransformer and calls its encode() and similarity().

    Arrays are numpy's: nothing here needs torch, but for `convert_to_tensor=True`. What the model
    cannot do is refused with an InvalidInputError that says so.
    """

    similarity_fn_name = "cosine"
    default_prompt_name = None
    truncate_dim = None
    device = "cpu"

    def __init__(
        self,
        model_name_or_path: str | os.PathLike[str] | None = None,
        device: str | None = None,
        *,
        engine: Engine | EnginePool | None = None,
    ) -> None:
        """A model file's path, or None for the build's own; or an engine that is loaded already.

        Raises as Engine.load does; OSError where the path is a name in a hub of models.
        """
        _check_device(device)
        check(
            engine is None or model_name_or_path is None,
            "model_name_or_path must be None where an engine is given",
        )
        if engine is None:
            engine = Engine.load(model_name_or_path)
        check(
            isinstance(engine, (Engine, EnginePool)),
            f"engine must be an Engine or an EnginePool, found {type(engine).__name__}",
        )
        self.engine = engine
        self.prompts: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"SentenceModel(engine={self.engine!r})"

    @property
    def max_seq_length(self) -> int:
        """Most tokens of a text, [CLS] and [SEP] included. The model's: not to be set."""
        return self.engine.max_seq_len

    def get_max_seq_length(self) -> int:
        return self.max_seq_length

    def get_sentence_embedding_dimension(self) -> int:
        """Floats of an embedding."""
        return self.engine.dim

    def to(self, device: str) -> SentenceModel:
        """Itself: it computes on the CPU. Raises InvalidInputError for another device."""
        _check_device(device)
        return self

    def eval(self) -> SentenceModel:
        """Itself: it is never trained."""
        return self

    def tokenize(self, texts: Sequence[str]) -> dict[str, NDArray[np.int64]]:
        """input_ids and attention_mask, int64 [n, longest], padded with 0 at the right."""
        ids = [self.engine.tokenize(text) for text in _texts(texts)]
        shape = (len(ids), max(map(len, ids), default=0))
        found = {name: np.zeros(shape, np.int64) for name in ("input_ids", "attention_mask")}
        for i, row in enumerate(ids):
            found["input_ids"][i, : len(row)] = row
            found["attention_mask"][i, : len(row)] = 1
        return found

    def encode(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        output_value: str = "sentence_embedding",
        precision: str = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: str | None = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        *,
        num_workers: int = 0,
    ) -> Any:
        """float32 [dim] of a str, [n, dim] of several; unit length, whatever normalize_embeddings.

        `prompt` is put before each text. A list of [dim] where neither an array nor a tensor is
        asked for. num_workers as in Engine.encode; 0 with a pool. Raises InvalidInputError.
        """
        _check_device(device)
        _check_only("prompt_name", prompt_name, None, "the model has no named prompts")
        _check_only("output_value", output_value, "sentence_embedding", "no other is kept")
        _check_only("precision", precision, "float32", "quantize the result yourself")
        if truncate_dim != self.engine.dim:
            _check_only("truncate_dim", truncate_dim, None, "the model needs all its floats")
        if prompt is not None:
            check_string(prompt, "prompt")
        single = isinstance(sentences, str)
        texts = [(prompt or "") + text for text in _texts([sentences] if single else sentences)]
        vectors = self.engine.encode(texts, batch_size, bool(show_progress_bar), num_workers)
        found = vectors[0] if single else vectors
        if convert_to_tensor:
            return _tensor(found)
        return found if convert_to_numpy or single else list(found)

    def encode_query(self, sentences: str | Sequence[str], **options: Any) -> Any:
        """encode(): queries and documents are embedded alike."""
        return self.encode(sentences, **options)

    def encode_document(self, sentences: str | Sequence[str], **options: Any) -> Any:
        """encode(): queries and documents are embedded alike."""
        return self.encode(sentences, **options)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> NDArray[np.float32]:
        """Cosines float32 [n, m] of embeddings [n, dim] or [dim] and [m, dim] or [dim].

        By numpy's product, whose last bits may differ from tern_tools.similarity's. Raises
        InvalidInputError, DimensionError.
        """
        one, other = _units(embeddings1), _units(embeddings2)
        if one.shape[1] != other.shape[1]:
            raise DimensionError(
                f"the first embeddings have {one.shape[1]} elements, the second {other.shape[1]}; "
                "they must be equal"
            )
        cosines: NDArray[np.float32] = (one @ other.T).astype(np.float32)
        return cosines

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> NDArray[np.float32]:
        """Cosines float32 [n] of the rows of two [n, dim], or of two [dim] as [1]."""
        one, other = _units(embeddings1), _units(embeddings2)
        check(
            one.shape == other.shape,
            f"embeddings must be of one shape, found {one.shape} and {other.shape}",
        )
        cosines: NDArray[np.float32] = (one * other).sum(axis=1).astype(np.float32)
        return cosines


def _check_device(device: Any) -> None:
    _check_only("device", None if str(device) == "cpu" else device, None, 'or "cpu": there is one')


def _check_only(name: str, value: Any, only: Any, why: str) -> None:
    if value != only:
        raise InvalidInputError(field=name, found=repr(value), expected=f"{only!r}: {why}")


def _texts(texts: Any) -> list[str]:
    found = listed(texts, "sentences", "a str or a sequence of str")
    for i, text in enumerate(found):
        check(isinstance(text, str), f"text {i} must be a str, found {type(text).__name__}")
    return found


def _units(vectors: Any) -> NDArray[np.float64]:
    """float64 [n, dim], each row of length 1 or 0."""
    try:
        found = np.atleast_2d(np.asarray(vectors, np.float64))
    except (TypeError, ValueError):
        raise InvalidInputError(
            field="embeddings", found=type(vectors).__name__, expected="arrays of numbers"
        ) from None
    check(found.ndim == 2, f"embeddings must have one or two dimensions, found {found.ndim}")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    units: NDArray[np.float64] = found / np.where(lengths == 0, 1, lengths)
    return units


def _tensor(vectors: NDArray[np.float32]) -> Any:
    try:
        from torch import from_numpy  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        raise InvalidInputError(
            field="convert_to_tensor", found="True", expected="False: torch is not installed"
        ) from None
    return from_numpy(vectors)
