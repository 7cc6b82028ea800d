"""The error tree, and its list for JavaScript."""

from __future__ import annotations

import pickle
import re
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest
from tern_engine import errors
from tern_engine.errors import ERROR_CODES, ModelError, ModelVersionError, TernError

ROOT = Path(__file__).resolve().parents[1]

ONLY_IN_JAVASCRIPT = {
    "ABORTED",
    "LOAD_HTTP",
    "LOAD_CONTENT",
    "LOAD_TRUNCATED",
    "LOAD_INTEGRITY",
    "LOAD_TIMEOUT",
    "LOAD_NETWORK",
    "INDEX_TOO_LARGE",
    "STORAGE_QUOTA",
    "STORAGE_UNAVAILABLE",
}


def subclasses(root: type[TernError]) -> Iterator[type[TernError]]:
    for each in root.__subclasses__():
        yield each
        yield from subclasses(each)


CONCRETE = [each for each in subclasses(TernError) if "code" in vars(each)]


def test_every_code_has_one_class_or_is_only_in_javascript() -> None:
    codes = [each.code for each in CONCRETE]
    assert len(codes) == len(set(codes))
    assert set(codes) | ONLY_IN_JAVASCRIPT == set(ERROR_CODES)
    assert not set(codes) & ONLY_IN_JAVASCRIPT


def test_model_errors_are_listed_in_the_order_of_the_checks() -> None:
    order = [code for code in ERROR_CODES if code.startswith("MODEL_")]
    assert [each.code for each in ModelError.__subclasses__()] == order
    assert order == [
        "MODEL_TOO_SHORT",
        "MODEL_MAGIC",
        "MODEL_VERSION",
        "MODEL_EMBEDDING_FORMAT",
        "MODEL_WEIGHTS_FORMAT",
        "MODEL_RESERVED",
        "MODEL_SHAPE",
        "MODEL_OTHER_BUILD",
        "MODEL_VOCABULARY",
        "MODEL_LENGTH",
        "MODEL_CHECKSUM",
        "MODEL_CODE",
        "MODEL_VALUE",
    ]


def test_the_tree_drawn_at_the_top_is_the_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+)(?: +([A-Z_]+))?", errors.__doc__ or "")
    assert [name for name, _ in drawn] == [each.__name__ for each in subclasses(TernError)]
    assert {name: code for name, code in drawn if code} == {
        each.__name__: each.code for each in CONCRETE
    }


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.code)
def test_message_attributes_and_pickling(kind: type[TernError]) -> None:
    error = kind(field="max_seq_len", found=2, expected="3 to 512")
    assert str(error) == "tern-engine: max_seq_len is 2, expected 3 to 512"
    assert (error.field, error.found, error.expected) == ("max_seq_len", 2, "3 to 512")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.found == 2
    assert str(kind("the engine was disposed")) == "tern-engine: the engine was disposed"


def test_build_errors_are_import_errors() -> None:
    assert issubclass(errors.BuildConflictError, ImportError)
    assert issubclass(errors.BuildMissingError, ImportError)
    assert not issubclass(ModelVersionError, ImportError)


def test_javascript_list_is_current() -> None:
    generator = runpy.run_path(str(ROOT / "tools" / "generate_errors.py"))
    text = (ROOT / "web" / "errors-list.js").read_text("utf-8")
    assert text == generator["source"](), "run python3 tools/generate_errors.py"
    types = (ROOT / "web" / "errors-list.d.ts").read_text("utf-8")
    assert types == generator["types"](), "run python3 tools/generate_errors.py"
    assert dict(re.findall(r'^  ([A-Z_]+): "(.*)",$', text, re.MULTILINE)) == ERROR_CODES
