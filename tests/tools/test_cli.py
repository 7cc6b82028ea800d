"""The command line: what it prints and writes. How it refuses is in test_cli_failures.py."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tern_engine
from tern_tools import SearchIndex, classify
from tern_tools.cli import tern_engine as tern_engine_command
from tern_tools.cli.index_commands import KEPT_INDEX

from tests.support.bulk import ROOT
from tests.support.cli import left_over

PAGE = (ROOT / "docs" / "cli.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENGINE = tern_engine.Engine.load()


@pytest.fixture(autouse=True, scope="module")
def free() -> Iterator[None]:
    yield
    ENGINE.dispose()


@pytest.fixture(autouse=True)
def folder(cli_folder: Path) -> Path:
    return cli_folder


# --- the page


def blocks(language: str) -> list[str]:
    return [body for found, body in FENCE.findall(PAGE) if found == language]


@pytest.mark.parametrize("block", [each for each in blocks("sh") if "build.py" not in each])
def test_commands_of_the_page(block: str, folder: Path) -> None:
    shim = folder / "bin" / "tern-engine"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tern_tools "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    bash = shutil.which("bash")
    assert bash
    done = subprocess.run(
        [bash, "-euc", block],
        env={
            **os.environ,
            "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "pyapp"),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    made = [
        name for glob in ("*.npy", "*.index", "*.bash", "vectors/*") for name in folder.glob(glob)
    ]
    assert done.stdout or made
    assert left_over(folder) == []


# --- embed


def test_embed_to_npy_and_jsonl_are_the_engine_s_bits(folder: Path, cli: Any) -> None:
    texts = ["i was billed twice", "", "the train is late 🙂"]
    expected = ENGINE.embed_batch(texts)
    assert cli("embed", "texts.txt", "-o", "t.npy", "--batch-size", "2") == (0, "", "")
    assert np.array_equal(np.load("t.npy"), expected)
    code, out, _ = cli("embed", "texts.txt")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and [record["text"] for record in records] == texts
    assert np.array_equal(np.array([r["embedding"] for r in records], np.float32), expected)


def test_embed_csv_and_jsonl_keep_other_columns(folder: Path, cli: Any) -> None:
    assert cli("embed", "questions.csv", "--column", "question", "-o", "q.jsonl")[0] == 0
    records = [json.loads(line) for line in Path("q.jsonl").read_text().splitlines()]
    assert [(r["id"], r["question"]) for r in records] == [("x", "who, me?"), ("y", "two\nlines")]
    code, out, _ = cli("embed", "q.jsonl", "--column", "question")  # embeddings are replaced
    assert code == 0 and [json.loads(line) for line in out.splitlines()] == records


def test_empty_input(folder: Path, cli: Any) -> None:
    Path("none.txt").touch()
    assert cli("embed", "none.txt", "-o", "none.npy")[0] == 0
    assert np.load("none.npy").shape == (0, 384)
    assert cli("embed", "none.txt") == (0, "", "")


def test_progress_on_stderr(cli: Any) -> None:
    code, _, err = cli("embed", "texts.txt", "-o", "t.npy", "--progress")
    assert code == 0 and err == "\rembed 3\n"


# --- index and search


def test_search_keeps_an_index_and_renews_it(folder: Path, cli: Any) -> None:
    code, out, err = cli("search", "notes", "how do i get my money back")
    first, second = out.splitlines()
    assert code == 0 and first.startswith("notes/refunds.txt:1: 0.")
    assert second.startswith("notes/more/ferry.md:1: ") and "passed over a file that is no" in err
    kept = Path("notes", KEPT_INDEX)
    before = kept.stat().st_mtime_ns
    assert cli("search", "notes", "boat", "-k", "1")[1].startswith("notes/more/ferry.md")
    assert kept.stat().st_mtime_ns == before
    Path("notes/a.txt").write_text("Cats sleep all day.")
    Path("notes/refunds.txt").unlink()
    code, out, _ = cli("search", "notes", "pets", "--json", "--progress")
    found = json.loads(out.splitlines()[0])
    assert (found["path"], found["line"], found["text"]) == (
        "notes/a.txt",
        1,
        "Cats sleep all day.",
    )
    assert cli("index", "notes", "-o", "fresh.index")[0] == 0
    assert Path("fresh.index").read_bytes() == kept.read_bytes()


def test_search_gives_the_line_of_the_passage(folder: Path, cli: Any) -> None:
    filler = "Nothing of note happened on that day, as on the days before. " * 40
    ferry = "The ferry sails from the north pier. " * 40
    Path("notes/long.txt").write_text(f"{filler}\n\n\n{ferry}\n")
    arguments = ("search", "notes", "north pier ferry", "--glob", "long.*")
    found = json.loads(cli(*arguments, "--json")[1])
    assert (found["path"], found["line"]) == ("notes/long.txt", 4)
    assert found["text"].startswith("The ferry sails") and found["start"] >= len(filler) + 2
    (line,) = cli(*arguments)[1].splitlines()
    assert re.fullmatch(r"notes/long.txt:4: 0\.\d{3} The ferry .{,160}", line)


def test_kept_indexes_that_are_of_no_use(folder: Path, cli: Any) -> None:
    kept = Path("notes", KEPT_INDEX)
    kept.write_bytes(b"damaged")
    code, out, err = cli("search", "notes", "boat", "--vectors", "int8")
    assert code == 0 and out and "made anew" in err
    assert SearchIndex.load(ENGINE, kept.read_bytes()).vectors == "int8"
    assert cli("search", "notes", "boat", "--vectors", "float32")[0] == 0
    assert SearchIndex.load(ENGINE, kept.read_bytes()).vectors == "float32"
    data = bytearray(kept.read_bytes())
    # A file that the caller named may be anything: it is not written over.
    code, _, err = cli("search", "notes", "boat", "--index", "texts.txt")
    assert code == 3 and "the index cannot be read" in err and err.count("\n") == 1
    assert Path("texts.txt").read_text().startswith("i was billed")
    assert bytes(data) == kept.read_bytes()


def test_nothing_found(folder: Path, cli: Any) -> None:
    Path("empty").mkdir()
    assert cli("search", "empty", "boat") == (1, "", "")


def test_index_of_documents(folder: Path, cli: Any) -> None:
    lines = [
        {"id": "a", "text": "One.", "title": "T", "year": 1999, "meta": {"x": [1]}},
        {"text": "Two.", "source": "s"},
    ]
    Path("d.jsonl").write_text("\n".join(map(json.dumps, lines)))
    code, out, _ = cli("index", "d.jsonl", "-o", "d.index", "--json", "--vectors", "int8")
    about = json.loads(out)
    assert code == 0 and (about["documents"], about["passages"]) == (2, 2)
    index = SearchIndex.load(ENGINE, Path("d.index").read_bytes())
    first, second = index.documents()
    assert (first.title, first.meta) == ("T", {"x": [1], "year": 1999})
    assert (second.id, second.source, second.meta) == ("2", "s", None)


# --- smaller commands


def test_small_commands(cli: Any) -> None:
    assert cli("tokenize", "a sentence") == (0, "101 1037 6251 102\n", "")
    score = json.loads(cli("similarity", "a", "a", "--json")[1])["similarity"]
    assert score == pytest.approx(1)
    code, out, _ = cli("classify", "my card", "a tree", "--label", "bank", "--label", "garden")
    assert code == 0 and [line.split("\t")[0] for line in out.splitlines()] == ["bank", "garden"]
    assert json.loads(cli("info", "--json")[1])["fingerprint"] == ENGINE.fingerprint
    assert cli("--version")[0] == 0


def test_classify_embeds_every_text_and_example_once(
    folder: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"train {i}" for i in range(150)]
    examples = {"billing": ["my invoice", "a charge"], "travel": ["a train"]}
    expected = [classify(ENGINE, text, examples) for text in texts]
    Path("two.json").write_text(json.dumps(examples))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(texts).encode())))
    embedded: list[str] = []
    embed_batch = tern_engine.Engine.embed_batch

    def seen(self: tern_engine.Engine, given: list[str]) -> Any:
        embedded.extend(given)
        return embed_batch(self, given)

    monkeypatch.setattr(tern_engine.Engine, "embed_batch", seen)
    code, out, _ = cli("classify", "--examples", "two.json", "--json")
    assert code == 0 and embedded == ["my invoice", "a charge", "a train", *texts]
    found = [json.loads(line) for line in out.splitlines()]
    assert [each["text"] for each in found] == texts
    labels = [[(hit["label"], hit["score"]) for hit in each["labels"]] for each in found]
    assert labels == expected


@pytest.mark.parametrize("name", [*tern_engine_command.commands, ""])
def test_help(cli: Any, name: str) -> None:
    code, out, err = cli(*name.split(), "--help")
    assert (code, err) == (0, "") and out.startswith(f"Usage: tern-engine {name}".strip())
    assert out == cli(*name.split(), "-h")[1]
    assert name or out.count("...") == 1  # of [ARGS]...: no line of the list is cut
