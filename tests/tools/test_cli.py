"""The command line: what it prints and writes, and how it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tern_engine
from tern_engine.format import Header
from tern_tools import SearchIndex
from tern_tools.cli import tern_engine as tern_engine_command
from tern_tools.cli.index_commands import KEPT_INDEX

from tests.support.models import random_tensors

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "assets" / "model-int4.bin"
PAGE = (ROOT / "docs" / "cli.md").read_text("utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ENGINE = tern_engine.Engine.load()


@pytest.fixture(autouse=True, scope="module")
def free() -> Iterator[None]:
    yield
    ENGINE.dispose()


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The float tensors of a small model."""
    path = tmp_path_factory.mktemp("weights") / "weights.npz"
    tensors = random_tensors(Header("int4", 30522, 12, 1, 4, 20, 7, 16), 1)
    np.savez(path, n_heads=4, max_seq_len=16, **tensors)  # type: ignore[arg-type]
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weights: Path) -> Path:
    """The working folder, with the files that docs/cli.md names."""
    notes = tmp_path / "notes"
    (notes / "more").mkdir(parents=True)
    (notes / "refunds.txt").write_text("Opening hours\n\nWe return your money in two weeks.\n")
    (notes / "more" / "ferry.md").write_text("The ferry to the island leaves at nine.\n")
    (notes / "picture.bin").write_bytes(b"\x89PNG\0")
    (tmp_path / "texts.txt").write_text("i was billed twice\n\nthe train is late 🙂\r\n")
    (tmp_path / "questions.csv").write_text('id,question\nx,"who, me?"\ny,"two\nlines"\n')
    (tmp_path / "examples.json").write_text('{"billing": ["my invoice"], "travel": ["a train"]}')
    pq.write_table(pa.table({"text": ["a", None, "b"]}), tmp_path / "texts.parquet")
    (tmp_path / "model.bin").symlink_to(MODEL)
    (tmp_path / "weights.npz").symlink_to(weights)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Starts a command in a process of its own."""
    line = [sys.executable, "-m", "tern_tools", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "pyapp")}
    return subprocess.Popen(line, env=environment, text=True, **options)


def left_over(folder: Path) -> list[Path]:
    return list(folder.rglob("*.part"))


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


@pytest.mark.parametrize("name", [*tern_engine_command.commands, ""])
def test_help(cli: Any, name: str) -> None:
    code, out, err = cli(*name.split(), "--help")
    assert (code, err) == (0, "") and out.startswith(f"Usage: tern-engine {name}".strip())
    assert out == cli(*name.split(), "-h")[1]
    assert name or out.count("...") == 1  # of [ARGS]...: no line of the list is cut


# --- what goes wrong

BAD: list[tuple[list[str], int, str]] = [
    (["embed", "missing.txt"], 4, "missing.txt: No such file"),
    (["embed", "notes"], 4, "notes: Is a directory"),
    (["embed", "notes/picture.bin"], 2, "zero byte"),
    (["embed", "latin.txt"], 2, "latin.txt, line 2 is not UTF-8 text: byte 0xe9"),
    (["embed", "broken.jsonl"], 2, "broken.jsonl, line 2 is not JSON"),
    (["embed", "list.jsonl"], 2, "list.jsonl, line 1 is not a JSON object"),
    (["embed", "broken.csv"], 2, "broken.csv, line 3 has more or fewer cells"),
    (["embed", "quote.csv"], 2, "quote.csv, line 2 is not CSV"),
    (["embed", "questions.csv"], 2, "no column 'text'; there are: id, question"),
    (["embed", "number.jsonl"], 2, "text is 5, expected a string"),
    (["embed", "texts.txt", "-o", "none/t.npy"], 4, "none/t.npy: No such file"),
    (["embed", "texts.txt", "--batch-size", "0"], 2, "--batch-size"),
    (["embed", "texts.txt", "--model", "none.bin"], 4, "none.bin: No such file"),
    (["embed", "texts.txt", "--model", "examples.json"], 3, "examples.json: "),
    (["embed", "texts.txt", "--model", "short.bin", "--threads", "2"], 3, "short.bin: file length"),
    (["index", "texts.txt", "-o", "o.index", "--model", "short.bin"], 3, "short.bin: file length"),
    (["index", "texts.txt", "-o", "none/o.index"], 4, "none/o.index: No such file"),
    (["index", "notes/picture.bin", "-o", "o.index"], 2, "picture.bin, line 1 holds a zero byte"),
    (["index", "questions.csv", "-o", "o.index"], 2, "no column 'text'; there are: id, question"),
    (["search", "notes", "x", "--model", "short.bin"], 3, "short.bin: file length is 9 bytes"),
    (["search", "notes", "x", "--index", "none/o.index"], 4, "none/o.index: No such file"),
    (["tokenize", "a", "--model", "short.bin"], 3, "short.bin: file length is 9 bytes"),
    (["similarity", "a"], 2, "Missing argument 'OTHER'"),
    (["similarity", "a", "b", "--model", "short.bin"], 3, "short.bin: file length is 9 bytes"),
    (["classify", "x", "--label", "a", "--model", "short.bin"], 3, "short.bin: file length"),
    (["classify", "x", "--examples", "none.json"], 4, "none.json: No such file"),
    (["classify", "x", "--examples", "list.jsonl"], 2, "labels[0] must be a str, found int"),
    (["info", "--model", "short.bin"], 3, "short.bin: file length is 9 bytes"),
    (["info", "--model", "notes"], 4, "notes: Is a directory"),
    (["search", "missing", "x"], 4, "missing: no such folder"),
    (["index", "twice.jsonl", "-o", "x.index"], 2, "two documents have the id a"),
    (["index", "texts.txt"], 2, "--output"),
    (["classify", "x"], 2, "either --label or --examples"),
    (["classify", "x", "--examples", "texts.txt"], 2, "is not JSON"),
    (["nonsense"], 2, "nonsense"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD, ids=lambda v: str(v)[:50])
def test_one_line_and_an_exit_code(
    folder: Path, cli: Any, arguments: list[str], code: int, message: str
) -> None:
    Path("latin.txt").write_bytes("fine\ncafé\n".encode("latin-1"))
    Path("broken.jsonl").write_text('{"text": "a"}\n{"text": \n')
    Path("list.jsonl").write_text("[1]\n")
    Path("broken.csv").write_text("text,id\na,b\nc\n")
    Path("quote.csv").write_text('text,id\n"a"b,c\n')
    Path("number.jsonl").write_text('{"text": 5}\n')
    Path("short.bin").write_text("too short")
    Path("twice.jsonl").write_text('{"id": "a", "text": "b"}\n' * 2)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found, out, err = cli(*arguments)
    assert found == code, err
    assert out == "" or arguments[:2] == ["embed", "broken.jsonl"]
    assert err.count("\n") == 1 and err.startswith("tern-engine: ") and message in err
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_a_failure_half_way_leaves_the_old_file(folder: Path, cli: Any) -> None:
    Path("late.jsonl").write_text('{"text": "a"}\n' * 5 + "{\n")
    for target in ("out.npy", "out.jsonl"):
        Path(target).write_text("old")
        code, _, err = cli("embed", "late.jsonl", "-o", target, "--batch-size", "2")
        assert code == 2 and "line 6" in err
        assert Path(target).read_text() == "old" and left_over(folder) == []


def test_a_line_that_is_too_long(folder: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tern_tools.cli.inputs.MAX_LINE", 1000)
    Path("huge.txt").write_text("x" * 1001)
    code, _, err = cli("embed", "huge.txt")
    assert code == 2 and "line 1 is longer than 1,000 bytes" in err
    Path("huge.txt").write_text("word " * 200)
    assert cli("embed", "huge.txt")[0] == 0


def test_a_full_disk(folder: Path, cli: Any) -> None:
    for arguments in (["-o", "/dev/full"], ["-o", "/dev/full", "--output-format", "npy"]):
        code, _, err = cli("embed", "texts.txt", *arguments)
        assert code == 4 and "No space left" in err
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    with Path("/dev/full").open("w") as full:
        process = command("embed", "texts.txt", stdout=full, stderr=subprocess.PIPE)
        err = process.communicate()[1]
    assert process.returncode == 4 and err.count("\n") == 1 and "No space left" in err


@pytest.mark.parametrize(
    "arguments", [["--help"], ["embed", "--help"], ["info"], ["unpack", "model.bin"]], ids=" ".join
)
def test_a_reader_that_was_never_there(folder: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = command(*arguments, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (process.communicate()[1], process.returncode) == ("", 141)


def test_a_reader_that_goes_away(folder: Path) -> None:
    Path("many.txt").write_text("a text\n" * 2000)
    process = command("embed", "many.txt", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    assert process.stdout.readline().startswith('{"text": "a text"')
    process.stdout.close()
    assert process.wait(60) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_ended_half_way(folder: Path, number: signal.Signals, code: int) -> None:
    process = command(
        "embed", "-", "-o", "out.npy", "--batch-size", "1",
        stdin=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    process.stdin.write("a text\n" * 50)
    process.stdin.flush()
    for _ in range(600):
        if left_over(folder):
            break
        time.sleep(0.05)
    assert left_over(folder) != []
    process.send_signal(number)
    process.communicate()
    assert process.returncode == code
    assert left_over(folder) == [] and not Path("out.npy").exists()
