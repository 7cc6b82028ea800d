"""The command embed: Parquet, several threads, and runs that are taken up."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tern_engine
from tern_tools.arrow import FINGERPRINT

from tests.support.bulk import ENVIRONMENT, short_text
from tests.support.cli import on_a_full_disk

ENGINE = tern_engine.Engine.load()
TEXTS = ["i was billed twice", "", "the train is late 🙂"]


@pytest.fixture(autouse=True, scope="module")
def free() -> Iterator[None]:
    yield
    ENGINE.dispose()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def embeddings(path: str) -> np.ndarray:
    return np.array(pq.read_table(path)["embedding"].to_pylist(), np.float32)


# --- Parquet


def test_parquet_to_every_format(folder: Path, cli: Any) -> None:
    days = [datetime(2026, 1, 2, 3, 4, 5), None, None]
    table = pa.table(
        {
            "day": pa.array(days, pa.timestamp("ms")),
            "said": TEXTS,
            "score": [0.5, float("inf"), None],
            "price": [Decimal("1.10"), None, None],
            "more": [{"a": [1]}, None, {"a": []}],
        }
    )
    pq.write_table(table, "in.parquet")
    expected = ENGINE.embed_batch(TEXTS)
    assert cli("embed", "in.parquet", "--column", "said", "-o", "o.parquet") == (0, "", "")
    found = pq.read_table("o.parquet")
    assert found.drop_columns("embedding").equals(pq.read_table("in.parquet"))
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 384)
    assert found.schema.metadata[FINGERPRINT] == ENGINE.fingerprint.encode()
    assert np.array_equal(embeddings("o.parquet"), expected)
    assert cli("embed", "in.parquet", "--column", "said", "-o", "o.npy")[0] == 0
    assert np.array_equal(np.load("o.npy"), expected)
    code, out, _ = cli("embed", "in.parquet", "--column", "said")
    first, second, third = map(json.loads, out.splitlines())
    assert code == 0 and np.array_equal(np.array(first.pop("embedding"), np.float32), expected[0])
    assert first == {
        "day": "2026-01-02T03:04:05",
        "said": TEXTS[0],
        "score": 0.5,
        "price": "1.10",
        "more": {"a": [1]},
    }
    assert (second["score"], third["more"]) == (None, {"a": []})
    assert cli("embed", "o.parquet", "--column", "said", "-o", "again.parquet")[0] == 0
    assert Path("again.parquet").read_bytes() == Path("o.parquet").read_bytes()


def test_parquet_types_that_json_and_python_have_not(folder: Path, cli: Any) -> None:
    """Nanoseconds are cut, whether pandas, which has them, is installed or not."""
    one = 1_700_000_000_123_456_789
    ns = pa.timestamp("ns")
    columns = {
        "text": pa.array(["a"]),
        "at": pa.array([one], ns),
        "there": pa.array([one], pa.timestamp("ns", "Europe/Vienna")),
        "all": pa.array([[one]], pa.large_list(ns)),
        "in": pa.array([{"b": one, "c": None}], pa.struct([("b", ns), ("c", pa.list_(ns, 1))])),
        "for": pa.array([2001], pa.duration("ns")),
        "daily": pa.array([2001], pa.time64("ns")),
        "id": pa.array([bytes(range(16))], pa.uuid()),
    }
    pq.write_table(pa.table(columns), "in.parquet")
    code, out, _ = cli("embed", "in.parquet")
    found = json.loads(out)
    del found["embedding"]
    assert code == 0 and found == {
        "text": "a",
        "at": "2023-11-14T22:13:20.123456",
        "there": "2023-11-14T23:13:20.123456+01:00",
        "all": ["2023-11-14T22:13:20.123456"],
        "in": {"b": "2023-11-14T22:13:20.123456", "c": None},
        "for": "0:00:00.000002",
        "daily": "00:00:00.000002",
        "id": "00010203-0405-0607-0809-0a0b0c0d0e0f",
    }
    assert cli("embed", "in.parquet", "-o", "o.parquet")[0] == 0
    assert pq.read_table("o.parquet").drop_columns("embedding").equals(pa.table(columns))


def test_lines_csv_and_json_to_parquet(folder: Path, cli: Any) -> None:
    Path("t.txt").write_text("\n".join(TEXTS))
    Path("t.csv").write_text('n,text\n1,"a, b"\n2,c\n')
    records = [{"text": "a", "n": 1}, {"text": "b", "tags": ["x"], "embedding": "old"}]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, records)))
    Path("t.none").touch()
    cases: list[tuple[str, list[dict[str, Any]]]] = [
        ("t.txt", [{"text": text} for text in TEXTS]),
        ("t.csv", [{"n": "1", "text": "a, b"}, {"n": "2", "text": "c"}]),
        ("t.jsonl", [{"text": "a", "n": 1, "tags": None}, {"text": "b", "n": None, "tags": ["x"]}]),
        ("t.none", []),
    ]
    for source, expected in cases:
        assert cli("embed", source, "-o", "o.parquet", "--batch-size", "1") == (0, "", "")
        found = pq.read_table("o.parquet")
        assert found.drop_columns("embedding").to_pylist() == expected
        texts = [record["text"] for record in expected]
        assert found["embedding"].to_pylist() == ENGINE.embed_batch(texts).tolist()


def test_parquet_through_pipes(folder: Path) -> None:
    pq.write_table(pa.table({"text": TEXTS}), "in.parquet")
    tool = f"{sys.executable} -m tern_tools embed --input-format parquet"
    script = f"cat in.parquet | {tool} --output-format parquet | {tool} -o o.npy"
    done = subprocess.run(["bash", "-euc", script], env=ENVIRONMENT, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    assert np.array_equal(np.load("o.npy"), ENGINE.embed_batch(TEXTS))


BAD = [
    ("missing.parquet", [], 4, "missing.parquet: No such file"),
    ("text.parquet", [], 2, "text.parquet is not a whole Parquet file"),
    ("few.parquet", ["--column", "x"], 2, "no column 'x'; there are: text, data"),
    ("few.parquet", ["--column", "data"], 2, "expected strings"),
    ("few.parquet", ["--output-format", "jsonl"], 2, "of type binary, which JSON has not"),
    ("null.parquet", ["--output-format", "npy"], 2, "null.parquet, row 2: text is null"),
    ("mixed.jsonl", [], 2, "n has values of several types, expected one for Parquet"),
    ("late.jsonl", [], 2, "n has values of several types, expected int64 as in the first"),
    ("wide.jsonl", [], 2, "a later record has 'm', which the first 1,024 have not"),
    ("few.parquet", ["--threads", "0"], 2, "--threads"),
    ("half.jsonl", [], 2, "x holds half of a surrogate pair"),
    ("name.jsonl", [], 2, "the name of a column holds half of a surrogate pair"),
    ("hollow.jsonl", [], 2, "cannot be written as Parquet: Cannot write struct type 'x'"),
    ("far.parquet", ["--output-format", "jsonl"], 2, "rows 1 to 2: t has a value that JSON"),
    ("null.parquet", ["--output-format", "npy", "--column", "x"], 2, "there are: none"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "options", "code", "message"), BAD)
def test_one_line_and_an_exit_code(
    folder: Path, cli: Any, source: str, options: list[str], code: int, message: str
) -> None:
    Path("text.parquet").write_text("no Parquet at all")
    pq.write_table(pa.table({"text": ["a"], "data": [b"\0"]}), "few.parquet")
    pq.write_table(pa.table({"text": ["a", None]}), "null.parquet")
    times = pa.array([0, 2**60], pa.timestamp("us"))  # the second is after the year 9999
    pq.write_table(pa.table({"text": ["a", "b"], "t": times}), "far.parquet")
    Path("half.jsonl").write_text(r'{"text": "a", "x": "\ud800"}')
    Path("name.jsonl").write_text(r'{"text": "a", "\ud800": 1}')
    Path("hollow.jsonl").write_text('{"text": "a", "x": {}}')
    lines = ['{"text": "", "n": 1}'] * 1024
    Path("mixed.jsonl").write_text('{"text": "a", "n": 1}\n{"text": "a", "n": "b"}')
    Path("late.jsonl").write_text("\n".join([*lines, '{"text": "a", "n": "b"}']))
    Path("wide.jsonl").write_text("\n".join([*lines, '{"text": "a", "m": 1}']))
    Path("o.parquet").write_text("old")
    before = set(folder.iterdir())
    found, out, err = cli("embed", source, "-o", "o.parquet", *options)
    assert (found, out) == (code, ""), err
    assert err.count("\n") == 1 and err.startswith("tern-engine: ") and message in err
    assert Path("o.parquet").read_text() == "old" and set(folder.iterdir()) == before


@pytest.mark.parametrize("name", ["o.parquet", "o.npy", "o.jsonl"])
def test_a_full_disk_leaves_nothing(folder: Path, name: str) -> None:
    Path("t.txt").write_text("\n".join(str(i) for i in range(200)))
    assert "File too large" in on_a_full_disk(20, "embed", "t.txt", "-o", name)
    assert [path.name for path in folder.iterdir()] == ["t.txt"]


# --- threads, and what is kept


def test_threads_give_the_same_bytes(folder: Path, cli: Any) -> None:
    Path("t.txt").write_text("\n".join(short_text(i) or "" for i in range(300)))
    assert cli("embed", "t.txt", "-o", "one.npy")[0] == 0
    assert cli("embed", "t.txt", "-o", "three.npy", "--threads", "3")[0] == 0
    assert Path("one.npy").read_bytes() == Path("three.npy").read_bytes()


@pytest.mark.parametrize("form", ["npy", "jsonl", "parquet"])
def test_a_killed_run_is_taken_up(folder: Path, cli: Any, form: str) -> None:
    texts = [short_text(i) or "" for i in range(120)]
    line = ["embed", "-", "-o", f"o.{form}", "--resume", "--batch-size", "8"]
    process = subprocess.Popen(
        [sys.executable, "-m", "tern_tools", *line], env=ENVIRONMENT, text=True,
        stdin=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    process.stdin.write("\n".join(texts[:100]))
    process.stdin.flush()
    kept = Path(f".o.{form}.resume")
    for _ in range(1200):
        if kept.exists() and kept.stat().st_size > 40 * 1552:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = kept.stat().st_size // 1552
    assert 40 <= there < 120 and not Path(f"o.{form}").exists()
    with kept.open("ab") as file:  # cut short in the middle of a text
        file.write(b"half a record")
    Path("all.txt").write_text("\n".join(texts))
    code, _, err = cli("embed", "all.txt", *line[2:])
    assert code == 0 and err == f"tern-engine: took up {there} texts of a run that was ended\n"
    assert cli("embed", "all.txt", "-o", f"whole.{form}")[0] == 0
    assert Path(f"o.{form}").read_bytes() == Path(f"whole.{form}").read_bytes()
    assert not kept.exists()


def test_what_is_kept_serves_the_same_texts_only(
    folder: Path, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Input that fails in its line 61; then with another text in line 31."""
    texts = [f"text {i}" for i in range(60)]
    lines = [json.dumps({"text": text}) for text in texts]
    Path("in.jsonl").write_text("\n".join([*lines, "{"]))
    arguments = ["embed", "in.jsonl", "-o", "o.npy", "--resume", "--batch-size", "10"]
    assert cli(*arguments)[0] == 2
    kept = Path(".o.npy.resume")
    assert kept.exists() and not Path("o.npy").exists()
    lines[30] = json.dumps({"text": "another"})
    Path("in.jsonl").write_text("\n".join([*lines[:40], "{"]))
    before = kept.stat().st_size
    assert cli(*arguments)[0] == 2
    # What is of no more use is cut off, so that no record is half of one and half of another.
    assert before - kept.stat().st_size == 20 * 1552
    Path("in.jsonl").write_text("\n".join(lines))
    embedded: list[str] = []
    embed_batch = tern_engine.Engine.embed_batch

    def seen(self: tern_engine.Engine, given: list[str]) -> Any:
        embedded.extend(given)
        return embed_batch(self, given)

    with monkeypatch.context() as patch:
        patch.setattr(tern_engine.Engine, "embed_batch", seen)
        assert cli(*arguments)[0] == 0
    expected = [*texts[:30], "another", *texts[31:]]
    assert embedded == expected[40:] and not kept.exists()
    assert np.array_equal(np.load("o.npy"), ENGINE.embed_batch(expected))
    # Of another model, or no such file at all: begun anew.
    kept.write_bytes(b'{"tern-engine resume": 1, "fingerprint": "another", "dim": 384}\n' * 99)
    assert cli(*arguments) == (0, "", "")
    assert np.array_equal(np.load("o.npy"), ENGINE.embed_batch(expected))


def test_only_a_file_can_be_taken_up(folder: Path, cli: Any) -> None:
    Path("t.txt").write_text("a")
    for arguments in ([], ["-o", "/dev/null"]):
        code, _, err = cli("embed", "t.txt", "--resume", *arguments)
        assert code == 2 and "--resume needs a file" in err


def test_parquet_documents_in_an_index(folder: Path, cli: Any) -> None:
    days = pa.array([datetime(2026, 1, 2)], pa.date32())
    pq.write_table(pa.table({"id": ["a"], "text": ["One."], "day": days}), "d.parquet")
    Path("d.jsonl").write_text('{"id": "a", "text": "One.", "day": "2026-01-02"}')
    for source in ("d.parquet", "d.jsonl"):
        assert cli("index", source, "-o", f"{source}.index", "--json")[0] == 0
    assert Path("d.parquet.index").read_bytes() == Path("d.jsonl.index").read_bytes()
