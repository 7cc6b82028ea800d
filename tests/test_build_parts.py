"""The kernel compiler, and what a build takes its payload from."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tools.kernels import TABLES, compile_kernel
from tools.payload import check_model, vocab_txt, vocabulary

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("table", TABLES)
def test_a_kernel_compiles_to_the_same_bytes_anywhere(table: str, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere"
    copy.mkdir()
    for source in (ROOT / "pyapp" / "tern_engine" / "kernels").glob("*.[ch]"):
        (copy / source.name).write_bytes(source.read_bytes())
    compile_kernel(table, tmp_path / "copy.wasm", sources=copy)
    compile_kernel(table, tmp_path / "own.wasm")
    assert (tmp_path / "copy.wasm").read_bytes() == (tmp_path / "own.wasm").read_bytes()


def test_a_compile_error_is_shown(tmp_path: Path) -> None:
    (tmp_path / "broken.c").write_text("int broken(void) { return nonsense; }\n")
    with pytest.raises(RuntimeError, match="nonsense"):
        compile_kernel("int4", tmp_path / "out.wasm", sources=tmp_path)


def test_an_unknown_table_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="int5"):
        compile_kernel("int5", tmp_path / "out.wasm")


def test_a_vocabulary_with_a_gap_or_a_line_break_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    for pieces, message in (({"a": 0, "b": 2}, "ids"), ({"a": 0, "b\n": 1}, "line break")):
        path.write_text(json.dumps({"model": {"vocab": pieces}}))
        with pytest.raises(ValueError, match=message):
            vocabulary(path)


def test_a_vocabulary_that_the_engine_could_not_use_is_refused() -> None:
    pieces = vocabulary()
    assert vocab_txt(pieces).decode().splitlines() == pieces
    for changed, message in (([*pieces, "the"], "'the' occurs twice"), (pieces[1:], r"\[PAD\]")):
        # Of a module that is forgotten again: no class that could be named here.
        with pytest.raises(Exception, match=message) as caught:
            vocab_txt(changed)
        assert type(caught.value).__name__ == "InvalidInputError"


def test_checking_a_model_leaves_the_imported_engine_alone() -> None:
    import tern_engine

    before = sys.modules["tern_engine"]
    found = check_model(ROOT / "assets" / "model-int4.bin", "int4", 30522)
    assert found == sha256((ROOT / "assets" / "model-int4.bin").read_bytes()).hexdigest()
    assert sys.modules["tern_engine"] is before is tern_engine
