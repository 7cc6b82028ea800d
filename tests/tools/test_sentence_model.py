"""SentenceModel: the methods of a SentenceTransformer, in numpy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tern_engine.errors import DimensionError, InvalidInputError
from tern_tools import EnginePool, SentenceModel, similarity

ROOT = Path(__file__).parents[2]
TEXTS = ["how do i get my money back", "a refund", "The ferry leaves at nine."]


@pytest.fixture(scope="module")
def model() -> Iterator[SentenceModel]:
    model = SentenceModel(device="cpu")
    yield model
    model.engine.dispose()


@pytest.fixture(scope="module")
def vectors(model: SentenceModel) -> np.ndarray:
    return np.stack([model.engine.embed(text) for text in TEXTS])


def test_encode_as_callers_of_the_original_write_it(
    model: SentenceModel, vectors: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    assert np.array_equal(model.encode(TEXTS), vectors)
    assert np.array_equal(model.encode(np.array(TEXTS)), vectors)
    assert np.array_equal(model.encode(TEXTS[0]), vectors[0])
    assert np.array_equal(model.encode_query(TEXTS[0]), vectors[0])
    assert np.array_equal(model.encode_document(TEXTS, batch_size=2), vectors)
    assert model.encode([]).shape == (0, 384)
    assert capsys.readouterr().err == ""
    found = model.encode(
        TEXTS,
        prompt_name=None,
        batch_size=2,
        show_progress_bar=True,
        output_value="sentence_embedding",
        precision="float32",
        convert_to_numpy=True,
        convert_to_tensor=False,
        device="cpu",
        normalize_embeddings=True,
        truncate_dim=384,
    )
    assert np.array_equal(found, vectors)
    assert "3/3" in capsys.readouterr().err


def test_prompts_stand_before_the_text(model: SentenceModel) -> None:
    found = model.encode(["one", "two"], prompt="query: ")
    assert np.array_equal(found, model.encode(["query: one", "query: two"]))
    assert np.array_equal(model.encode("one", prompt="query: "), found[0])


def test_lists_and_tensors(
    model: SentenceModel, vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = model.encode(TEXTS, convert_to_numpy=False)
    assert isinstance(rows, list)
    assert np.array_equal(np.stack(rows), vectors)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InvalidInputError, match="torch is not installed"):
        model.encode(TEXTS, convert_to_tensor=True)
    torch: Any = SimpleNamespace(from_numpy=lambda array: ("tensor", array))
    monkeypatch.setitem(sys.modules, "torch", torch)
    kind, found = model.encode(TEXTS, convert_to_tensor=True)
    assert kind == "tensor"
    assert np.array_equal(found, vectors)


def test_similarity(model: SentenceModel, vectors: np.ndarray) -> None:
    assert model.similarity_fn_name == "cosine"
    matrix = model.similarity(vectors, 3 * vectors[:2])
    assert matrix.dtype == np.float32
    expected = [[similarity(one, other) for other in vectors[:2]] for one in vectors]
    np.testing.assert_allclose(matrix, expected, atol=1e-6)
    assert matrix[0, 1] > matrix[2, 1] + 0.2
    assert model.similarity(vectors[0], vectors[1]).shape == (1, 1)
    pairs = model.similarity_pairwise(vectors, vectors[::-1])
    np.testing.assert_allclose(pairs, matrix_diagonal(model, vectors), atol=1e-6)
    assert model.similarity([[0.0, 0.0]], [[1.0, 0.0]]).tolist() == [[0.0]]
    for bad in (np.zeros((1, 1, 2)), [[1.0, 2.0]]):
        with pytest.raises(InvalidInputError, match="embeddings must"):
            model.similarity_pairwise(bad, vectors)
    for bad in ("text", [[1.0], [1.0, 2.0]]):
        with pytest.raises(InvalidInputError, match="arrays of numbers"):
            model.similarity(bad, vectors)
    with pytest.raises(DimensionError):
        model.similarity([1.0, 2.0], vectors)


def matrix_diagonal(model: SentenceModel, vectors: np.ndarray) -> np.ndarray:
    return np.diag(model.similarity(vectors, vectors[::-1]))


def test_what_callers_ask_of_it(model: SentenceModel) -> None:
    assert model.get_sentence_embedding_dimension() == 384
    assert model.max_seq_length == model.get_max_seq_length() == 128
    with pytest.raises(AttributeError):
        model.max_seq_length = 256  # type: ignore[misc]
    assert model.to("cpu") is model.eval() is model
    assert model.device == "cpu"
    assert repr(model) == f"SentenceModel(engine={model.engine!r})"
    tokens = model.tokenize(["a sentence", ""])
    assert tokens["input_ids"].tolist() == [[101, 1037, 6251, 102], [101, 102, 0, 0]]
    assert tokens["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 0, 0]]


@pytest.mark.parametrize(
    "options",
    [
        {"prompt_name": "query"},
        {"output_value": "token_embeddings"},
        {"output_value": None},
        {"precision": "int8"},
        {"device": "cuda"},
        {"device": ["cpu", "cpu"]},
        {"truncate_dim": 128},
        {"batch_size": 0},
        {"prompt": 5},
    ],
    ids=repr,
)
def test_refused_options(model: SentenceModel, options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises(InvalidInputError, match=rf"{name} (is .*, expected|must be) "):
        model.encode(TEXTS, **options)


@pytest.mark.parametrize("bad", [7, None, b"a", ["a", 7], [("a", "b")]], ids=repr)
def test_refused_sentences(model: SentenceModel, bad: Any) -> None:
    for method in (model.encode, model.tokenize):
        with pytest.raises(InvalidInputError, match="a str"):
            method(bad)


def test_models_and_engines(model: SentenceModel, vectors: np.ndarray) -> None:
    path = ROOT / "assets" / "model-int4.bin"
    assert np.array_equal(SentenceModel(path).encode(TEXTS, num_workers=1), vectors)
    pool = EnginePool(2)
    pooled = SentenceModel(engine=pool)
    assert np.array_equal(pooled.encode(TEXTS, batch_size=1), vectors)
    assert pooled.tokenize(["a"])["input_ids"].shape == (1, 3)
    with pytest.raises(InvalidInputError, match="a pool"):
        pooled.encode(TEXTS, num_workers=2)
    pool.dispose()
    with pytest.raises(InvalidInputError):
        SentenceModel(path, engine=pool)
    with pytest.raises(InvalidInputError, match="engine must be an Engine or"):
        SentenceModel(engine=5)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="device"):
        SentenceModel(device="cuda")
    with pytest.raises(OSError):
        SentenceModel("all-MiniLM-L6-v2")
