"""tern_tools.sklearn in scikit-learn itself: pipelines, clones, grid search, pandas-like names."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted
from tern_engine import Engine
from tern_engine.errors import InvalidInputError
from tern_tools.sklearn import TextEmbedder

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "assets" / "model-int4.bin"
MONEY = ["my card was charged twice", "refund my payment", "the invoice is wrong", "pay the bill"]
BOATS = ["the ferry leaves at nine", "a boat to the island", "ships in the harbour", "set sail"]


def test_its_features_are_the_embeddings() -> None:
    embedder = TextEmbedder()
    engine = Engine.load()
    assert np.array_equal(embedder.fit(MONEY).transform(np.array(BOATS)), engine.encode(BOATS))
    assert np.array_equal(embedder.fit_transform(MONEY, [0, 0, 1, 1]), engine.encode(MONEY))
    assert embedder.fingerprint_ == engine.fingerprint
    names = embedder.get_feature_names_out()
    assert names.dtype == object
    assert [names[0], names[383], len(names)] == ["textembedder0", "textembedder383", 384]
    engine.dispose()


def test_without_fit_too() -> None:
    embedder = TextEmbedder()
    check_is_fitted(embedder)
    assert embedder.transform(["a"]).shape == (1, 384)
    tags = get_tags(embedder)
    assert (tags.requires_fit, tags.input_tags.string, tags.input_tags.two_d_array) == (
        False, True, False,
    )  # fmt: skip
    with pytest.raises(NotFittedError):  # so that the above means something
        check_is_fitted(LogisticRegression())


def test_in_a_pipeline_that_is_cloned_searched_and_pickled() -> None:
    pipeline = make_pipeline(TextEmbedder(batch_size=3), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [1.0, 100.0]}, cv=2)
    search.fit(MONEY + BOATS, ["money"] * 4 + ["boats"] * 4)
    questions = ["i want my money back", "when does the ship depart"]
    assert search.predict(questions).tolist() == ["money", "boats"]
    best = search.best_estimator_
    assert best[0].get_params() == {"model": None, "batch_size": 3, "num_workers": 0}
    assert clone(TextEmbedder(MODEL, 7)).get_params()["model"] == MODEL
    data = pickle.dumps(best)
    assert len(data) < 50_000  # no model in it
    assert np.array_equal(
        pickle.loads(data).predict_proba(questions), best.predict_proba(questions)
    )
    union = make_union(TextEmbedder(), TextEmbedder(MODEL)).fit(MONEY)
    assert np.array_equal(union.transform(BOATS)[:, :384], union.transform(BOATS)[:, 384:])


def test_its_options_reach_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def encode(self: Engine, texts: list[str], batch_size: int, num_workers: int) -> Any:
        seen.append((texts, batch_size, num_workers))

    monkeypatch.setattr(Engine, "encode", encode)
    TextEmbedder(batch_size=9, num_workers=2).transform(("a", "b"))
    assert seen == [(["a", "b"], 9, 2)]


@pytest.mark.parametrize(
    "bad", ["text", b"text", 7, None, ["a", 7], [["a"]], np.array([["a"], ["b"]])], ids=repr
)
def test_what_is_no_column_of_texts(bad: Any) -> None:
    for method in (TextEmbedder().fit, TextEmbedder().transform):
        with pytest.raises(InvalidInputError, match=r"X.* is .*, expected "):
            method(bad)


def test_tables_are_refused() -> None:
    """Iterating over a data frame gives the names of its columns, which are texts."""

    class Frame:
        ndim = 2

        def __iter__(self) -> Iterator[str]:
            return iter(["title", "text"])

    with pytest.raises(InvalidInputError, match=r"2 dimensions.*ColumnTransformer"):
        TextEmbedder().transform(Frame())


def test_tern_tools_does_not_need_it() -> None:
    script = (
        "import sys; sys.modules['sklearn'] = None; import tern_tools, tern_tools.cli\n"
        "import tern_tools.sklearn"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "pyapp")},
    )
    assert done.returncode == 1
    assert "line 2" in done.stderr
    assert "pip install 'tern-tools[sklearn]'" in done.stderr.splitlines()[-1]
