"""tern-engine bulk: its output, and what it refuses. Its processes are in test_bulk_processes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tern_engine
from tern_engine.errors import InvalidInputError
from tern_tools.arrow import FINGERPRINT
from tern_tools.bulk import run_bulk
from tern_tools.bulk.part import try_part
from tern_tools.bulk.plan import Job, Part
from tern_tools.cli import run as run_cli

from tests.support.bulk import ROWS, ROWS_PER_PART, contents, parts, short_text


def test_the_output_is_the_input_with_the_engine_s_bits(source: Path, alone: Path) -> None:
    names = [path.name for path in parts(alone)]
    assert names == [f"part-{i:05d}.parquet" for i in range(60)]
    assert set(contents(alone)) == {*names, "_manifest.json", "_SUCCESS"}
    found = pq.read_table(alone)  # readers of folders pass over the other files
    assert found.drop_columns("embedding").equals(pq.read_table(source))
    assert found.schema.field("embedding").type == pa.list_(pa.float32(), 384)
    engine = tern_engine.Engine.load()
    rows = [0, 5, 729, 730, ROWS - 1]
    for row in rows:
        text, vector = short_text(row), found["embedding"][row].as_py()
        assert vector == (None if text is None else engine.embed(text).tolist())
    fingerprint = engine.fingerprint
    engine.dispose()
    assert pq.read_schema(alone / names[0]).metadata[FINGERPRINT] == fingerprint.encode()
    manifest = json.loads((alone / "_manifest.json").read_text())
    assert (manifest["fingerprint"], manifest["input"][0]["rows"]) == (fingerprint, ROWS)


def test_a_second_run_makes_nothing(source: Path, alone: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in parts(alone)}
    seen: list[tuple[int, int]] = []
    summary = run_bulk(
        source, alone, rows_per_part=ROWS_PER_PART, on_progress=lambda *at: seen.append(at)
    )
    assert (summary.made, summary.reused, seen) == (0, 60, [(ROWS, ROWS)])
    assert before == {path: path.stat().st_mtime_ns for path in parts(alone)}


def test_parts_that_are_gone_or_cut_short_are_made_again(source: Path, alone: Path) -> None:
    folder = source.parent / "mended"
    shutil.copytree(alone, folder)
    first, second, third = parts(folder)[:3]
    first.unlink()
    second.write_bytes(second.read_bytes()[:-20])
    pq.write_table(pa.table({"text": ["a"]}), third)
    (folder / ".part-00001.parquet.0123.part").write_bytes(b"of a worker that was killed")
    summary = run_bulk(source, folder, workers=1, rows_per_part=ROWS_PER_PART)
    assert (summary.made, summary.reused) == (3, 57)
    assert contents(folder) == contents(alone)


def test_columns_that_are_kept(source: Path, alone: Path, tmp_path: Path) -> None:
    table = pq.read_table(source).slice(0, 30)
    pq.write_table(table, tmp_path / "few.parquet")
    vector = pq.read_table(parts(alone)[0])["embedding"][1].as_py()
    for keep, output, names in (
        (["id"], "embedding", ["id", "embedding"]),
        (["tags", "text"], "v", ["text", "tags", "v"]),
        (None, "tags", ["id", "text", "tags"]),
    ):
        out = tmp_path / "-".join(names)
        run_bulk(tmp_path / "few.parquet", out, workers=1, keep=keep, output=output)
        found = pq.read_table(out)
        assert found.schema.names == names
        assert found[output][1].as_py() == vector
        for name in set(names) - {output}:
            assert found[name].equals(table[name])


def test_a_folder_of_files_and_a_file_without_rows(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, texts in (("b.parquet", ["c"]), ("a.parquet", ["a", "b"]), ("_c.parquet", ["x"])):
        pq.write_table(pa.table({"text": texts}), folder / name)
    summary = run_bulk(folder, tmp_path / "out", workers=1)
    assert (summary.rows, summary.parts) == (3, 2)
    assert pq.read_table(tmp_path / "out")["text"].to_pylist() == ["a", "b", "c"]
    pq.write_table(pa.table({"text": pa.array([], pa.string())}), tmp_path / "none.parquet")
    assert run_bulk(tmp_path / "none.parquet", tmp_path / "none", workers=1).rows == 0
    (part,) = parts(tmp_path / "none")
    assert pq.read_table(part).schema.names == ["text", "embedding"]


# --- what is refused

BAD: list[tuple[list[str], int, str]] = [
    (["missing.parquet", "out"], 4, "missing.parquet: No such file"),
    (["few.parquet", "out", "--column", "said"], 2, "few.parquet: no column 'said'; there are: id"),
    (["few.parquet", "out", "--column", "id"], 2, "column 'id' is of type int64, expected strings"),
    (["few.parquet", "out", "--keep", "x"], 2, "no column 'x'"),
    (["few.parquet", "out", "--workers", "0"], 2, "--workers"),
    (["few.parquet", "out", "--workers", "1", "--scheduler", "a:1"], 2, "exclude each other"),
    (["few.parquet", "out", "--model", "none.bin"], 4, "none.bin: No such file"),
    (["text.parquet", "out"], 2, "text.parquet is not a whole Parquet file: "),
    (["cut.parquet", "out"], 2, "cut.parquet is not a whole Parquet file: "),
    (["several", "out"], 2, "b.parquet has other columns than several/a.parquet"),
    (["empty", "out"], 2, "empty holds no .parquet files"),
    (["few.parquet", "several"], 2, "several holds other files: expected an empty folder"),
    (["few.parquet", "few.parquet"], 4, "few.parquet: "),
    (["few.parquet", "done", "--rows-per-part", "9"], 2, "rows_per_part is 8192, now 9"),
    (["few.parquet", "done", "--output-column", "v"], 2, 'output is "embedding", now "v"'),
    (["other.parquet", "done"], 2, "done is the output of another run: input is [{"),
    (["few.parquet", "damaged"], 2, "_manifest.json is damaged"),
]


@pytest.fixture(scope="module")
def folder(source: Path) -> Path:
    folder = source.parent / "bad"
    for name in ("several", "empty", "damaged"):
        (folder / name).mkdir(parents=True)
    few = pq.read_table(source, columns=["id", "text"]).slice(0, 40)
    pq.write_table(few, folder / "few.parquet")
    pq.write_table(few.slice(1), folder / "other.parquet")
    pq.write_table(few, folder / "several" / "a.parquet")
    pq.write_table(few.drop_columns("id"), folder / "several" / "b.parquet")
    data = (folder / "few.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(data[:-100])
    (folder / "text.parquet").write_text("no Parquet at all\n" * 9)
    (folder / "damaged" / "_manifest.json").write_text("{")
    run_bulk(folder / "few.parquet", folder / "done", workers=1)
    return folder


@pytest.mark.parametrize(("arguments", "code", "message"), BAD, ids=lambda v: str(v)[:50])
def test_one_line_and_an_exit_code(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], code: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found = run_cli(["bulk", *arguments])
    out, err = capsys.readouterr()
    assert (found, out) == (code, ""), err
    assert err.count("\n") == 1 and err.startswith("tern-engine: ") and message in err
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_damage_inside_a_file(source: Path, tmp_path: Path) -> None:
    """The footer is whole, a page is not."""
    data = bytearray(source.read_bytes())
    data[1000:60_000] = bytes(59_000)
    (tmp_path / "damaged.parquet").write_bytes(data)
    with pytest.raises(InvalidInputError, match=r"damaged\.parquet is not a whole Parquet file"):
        run_bulk(tmp_path / "damaged.parquet", tmp_path / "out", workers=1)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["_manifest.json"]


def test_a_worker_with_another_model(source: Path, tmp_path: Path) -> None:
    columns = ("text",)
    job = Job(str(tmp_path), columns, "text", columns, "embedding", None, "of another model")
    found = try_part(job, Part(str(source), 0, 10, "part-00000.parquet"))
    assert isinstance(found, InvalidInputError) and "expected of another model" in str(found)
    assert list(tmp_path.iterdir()) == []


def test_an_input_that_changes_meanwhile(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "few.parquet"
    few = pq.read_table(source).slice(0, 40)
    pq.write_table(few, path)

    def change(done: int, total: int) -> None:
        if done == total:
            pq.write_table(few.slice(1), path)

    with pytest.raises(InvalidInputError, match=r"few\.parquet changed while it was read"):
        run_bulk(path, tmp_path / "out", workers=1, on_progress=change)
    assert not (tmp_path / "out" / "_SUCCESS").exists()
