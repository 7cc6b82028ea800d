"""The command line where something goes wrong: one line, an exit code, nothing half-written."""

from __future__ import annotations

import codecs
import io
import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from tern_tools.cli.inputs import read_folder

from tests.support.cli import command, left_over, on_a_full_disk


@pytest.fixture(autouse=True)
def folder(cli_folder: Path) -> Path:
    return cli_folder


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


READ_LINES = [
    ["embed"],
    ["index", "-", "-o", "o.index"],
    ["tokenize"],
    ["classify", "--label", "a"],
]


@pytest.mark.parametrize("arguments", READ_LINES, ids=lambda arguments: arguments[0])
def test_lines_of_stdin_that_are_no_text(
    folder: Path, cli: Any, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setattr("tern_tools.cli.inputs.MAX_LINE", 100)
    cases = [(b"a\0b", "zero byte"), (b"\xe9", "not UTF-8"), (b"x" * 101, "longer than 100 bytes")]
    for data, message in cases:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        code, out, err = cli(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("tern-engine: standard input, line 1 ") and message in err
    assert not Path("o.index").exists()


def test_parquet_that_is_none_in_an_index(folder: Path, cli: Any) -> None:
    Path("text.parquet").write_text("no Parquet at all")
    for source, message in (("text.parquet", "not a whole Parquet"), ("texts.parquet", "is null")):
        code, out, err = cli("index", source, "-o", "o.index")
        assert (code, out, err.count("\n")) == (2, "", 1) and message in err
    assert not Path("o.index").exists()


def as_anybody(folder: Path, patterns: Any) -> Any:
    """read_folder by a user whom permissions hold for, which they do not for root."""
    codecs.lookup("utf-8-sig")  # which is imported when first used, maybe from a folder of root's
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        return read_folder(folder, patterns)
    finally:
        os.seteuid(user)


def test_what_may_not_be_read_is_passed_over(
    folder: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tern_tools.cli.index_commands.read_folder", as_anybody)
    for path in (folder, *Path("notes").rglob("*"), Path("notes")):
        path.chmod(0o755)
    Path("notes/secret.txt").write_text("secret")
    Path("notes/secret.txt").chmod(0)
    said = "tern-engine: passed over what may not be read: notes/"
    code, out, err = cli("search", "notes", "money", "--glob", "*.txt")
    assert code == 0 and out.startswith("notes/refunds.txt:1: ") and out.count("\n") == 1
    assert err == f"{said}secret.txt\n"
    Path("notes/more").chmod(0)
    code, out, err = cli("index", "notes", "-o", "o.index", "--json")
    assert code == 0 and json.loads(out)["documents"] == 1
    assert f"{said}more and 1 more\n" in err
    assert cli("search", "notes", "money", "--glob", "refunds.txt")[2] == f"{said}more\n"
    Path("notes").chmod(0)
    code, out, err = cli("search", "notes", "money")
    assert (code, out, err) == (4, "", "tern-engine: notes: Permission denied\n")
    Path("notes").chmod(0o755)


@pytest.mark.parametrize(
    "arguments",
    [
        ["tokenize", "a"],
        ["similarity", "a", "b"],
        ["classify", "a", "--label", "b"],
        ["info", "--json"],
        ["search", "notes", "boat"],
        ["unpack", "model.bin"],
        ["verify", "model.bin", "--texts", "texts.txt"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_full_disk_behind_stdout(folder: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        process = command(*arguments, stdout=full, stderr=subprocess.PIPE)
        err = process.communicate()[1].removeprefix(
            "tern-engine: passed over a file that is no UTF-8 text of up to 16 MiB\n"
        )
    assert process.returncode == 4 and err.count("\n") == 1 and "No space left" in err


@pytest.mark.parametrize(
    "arguments",
    [["index", "many", "-o", "old.index"], ["search", "many", "x", "--index", "new.index"]],
    ids=lambda arguments: arguments[0],
)
def test_a_full_disk_leaves_no_index(folder: Path, arguments: list[str]) -> None:
    Path("old.index").write_text("old")
    Path("many").mkdir()
    for i in range(9):
        Path("many", f"{i}.txt").write_text("a text")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    said = on_a_full_disk(8, *arguments)
    assert f"{arguments[-1]}: File too large" in said
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


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
