"""docs/python.md: its Python runs and prints what it says, and every public name stands in it."""

from __future__ import annotations

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tern_engine
import tern_tools
from tern_tools import Classifier, EnginePool, SearchIndex, SentenceModel
from tern_tools.sklearn import TextEmbedder

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", re.MULTILINE)


def test_the_snippets_print_what_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    """One after another, as in one notebook."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for snippet in PYTHON:
        exec(compile(snippet, "python.md", "exec"), names)
        said = PRINTED.findall(snippet)
        assert len(said) == snippet.count("print(")
        assert capsys.readouterr().out.splitlines() == said
    names["engine"].dispose()
    names["model"].engine.dispose()


def public(of: type) -> set[str]:
    """What a class has of its own to be called or read."""
    own = vars(of).items()
    return {name for name, value in own if not name.startswith("_") and value is not None}


@pytest.mark.parametrize(
    "names",
    [
        set(tern_engine.__all__),
        set(tern_tools.__all__),
        public(tern_engine.Engine),
        public(SearchIndex),
        public(SentenceModel) - {"similarity_fn_name"},
        public(TextEmbedder),
        public(Classifier),
        {*inspect.signature(tern_engine.Engine.encode).parameters} - {"self"},
        {*inspect.signature(TextEmbedder).parameters},
    ],
    ids=lambda names: min(names),
)
def test_every_public_name_stands_there(names: set[str]) -> None:
    assert len(names) > 1
    code = " ".join(re.findall(r"`[^`\n]+`", PAGE) + PYTHON)
    assert {name for name in names if not re.search(rf"\b{name}\b", code)} == set()


def test_public_names() -> None:
    assert tern_tools.__all__ == [
        "Changes", "Classifier", "Document", "EnginePool", "LabelScore", "Passage", "Result",
        "SearchIndex", "SentenceModel", "classify", "similarity", "split_sentences",
    ]  # fmt: skip


def test_a_pool_has_what_an_engine_has() -> None:
    """As the page says: its methods, with the same arguments."""
    attributes = {"dim", "fingerprint", "max_seq_len"}
    for name in public(tern_engine.Engine) - {"load"} - attributes:
        ours, theirs = getattr(EnginePool, name), getattr(tern_engine.Engine, name)
        assert [*inspect.signature(ours).parameters] == [*inspect.signature(theirs).parameters]


def test_the_extras_are_all_there() -> None:
    project = tomllib.loads((ROOT / "packaging/tern-tools/pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert set(re.findall(r"`tern-tools\[(\w+)\]`", PAGE)) == set(extras)
