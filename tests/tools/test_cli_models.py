"""Commands on model files: pack, verify, unpack, convert; what they refuse and leave behind."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from tern_engine.format import Header, sections
from tern_tools.models.unpack import UnpackedModel

from tests.support.bulk import ENVIRONMENT, ROOT
from tests.support.cli import on_a_full_disk
from tests.support.models import TINY, random_model, random_tensors

SMALL = Header("int4", 30522, 12, 1, 4, 20, 7, 16)  # of the tokenizer's vocabulary


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.savez(tmp_path / "a.npz", n_heads=4, max_seq_len=16, **random_tensors(TINY, 8))  # type: ignore[arg-type]
    (tmp_path / "tiny.bin").write_bytes(random_model(TINY, 8))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pack_and_convert(folder: Path, cli: Any) -> None:
    save_file(random_tensors(TINY, 8), "a.safetensors", {"n_heads": "4", "max_seq_len": "16"})
    for source in ("a.npz", "a.safetensors"):
        code, out, err = cli("pack", source, "m.bin", "--note", "a note")
        assert (code, err) == (0, "")
        assert re.fullmatch(r"m\.bin: [\d,]+ bytes, and m\.json\n", out)
        assert Path("m.bin").read_bytes() == Path("tiny.bin").read_bytes()
        record = json.loads(Path("m.json").read_text())
        assert (record["source"]["file"], record["notes"]) == (source, ["a note"])
        assert record["made_by"] == "tern-engine pack"
    code, out, _ = cli("convert", "m.bin", "m8.bin", "--embedding", "int8", "--json")
    about = json.loads(out)
    assert code == 0 and (about["file"], about["sidecar"]) == ("m8.bin", "m8.json")
    model = UnpackedModel.from_file("m8.bin")
    assert model.header.embedding_format == about["header"]["embedding_format"] == "int8"
    assert about["sha256"] == json.loads(Path("m8.json").read_text())["sha256"]


def test_numbers_in_options(folder: Path, cli: Any) -> None:
    np.savez("b.npz", **random_tensors(TINY, 8))  # type: ignore[arg-type]
    code, _, err = cli("pack", "b.npz", "b.bin", "--n-heads", "4")
    assert code == 2 and err.endswith("max_seq_len is not in the source, expected --max-seq-len\n")
    assert cli("pack", "b.npz", "b.bin", "--n-heads", "4", "--max-seq-len", "16")[0] == 0
    assert Path("b.bin").read_bytes() == Path("tiny.bin").read_bytes()


def test_unpack(folder: Path, cli: Any) -> None:
    code, out, err = cli("unpack", "tiny.bin", "--out", "t.npz")
    assert (code, err) == (0, "")
    assert re.search(r"^embedding_format +int4$", out, re.MULTILINE)
    assert out.splitlines()[-1].endswith("out.bias [7]")
    model = UnpackedModel.from_file("tiny.bin")
    with np.load("t.npz") as saved:
        assert set(saved) == {section.name for section in sections(TINY)}
        assert all(np.array_equal(saved[name], model.tensors[name]) for name in saved)
    about = json.loads(cli("unpack", "tiny.bin", "--json")[1])
    assert about["header"]["d_model"] == 12
    assert about["sections"][0] == {
        "name": "embedding", "offset": 32, "nbytes": 300, "kind": "int4", "shape": [50, 12],
    }  # fmt: skip


def test_verify(folder: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("m.bin").write_bytes(random_model(SMALL, 1))
    Path("m8.bin").write_bytes(random_model(Header("int8", 30522, 12, 1, 4, 20, 7, 16), 1))
    Path("t.txt").write_text("one text\n\nanother, in ünïcödé\n")
    code, out, err = cli("verify", "m.bin", "--texts", "t.txt", "--json")
    found = json.loads(out)
    assert (code, err, found["texts"], found["within_tolerance"]) == (0, "", 3, True)
    # This is the int4 build; that of another format may lie elsewhere.
    code, out, err = cli("verify", "m8.bin")
    assert (code, out, err.count("\n")) == (3, "", 1) and "tern-engine-emb-int8 reads" in err
    elsewhere = str(ROOT / "build" / "packages" / "int8")
    assert cli("verify", "m8.bin", "--texts", "t.txt", "--engine", elsewhere)[0] == 0
    code, _, err = cli("verify", "m.bin", "--engine", elsewhere)
    assert code == 3 and err.count("\n") == 1 and "tern-engine-emb-int4 reads" in err
    forward = UnpackedModel.forward
    monkeypatch.setattr(UnpackedModel, "forward", lambda self, ids: np.roll(forward(self, ids), 1))
    code, out, err = cli("verify", "m.bin", "--texts", "t.txt")
    assert (code, err) == (1, "") and "out of tolerance: cosine >= 0.9999" in out


BAD: list[tuple[list[str], int, str]] = [
    (["pack", "none.npz", "o.bin"], 4, "none.npz: No such file"),
    (["pack", "none.safetensors", "o.bin"], 4, "none.safetensors: No such file"),
    (["pack", "folder", "o.bin"], 4, "folder: Is a directory"),
    (["pack", "text.npz", "o.bin"], 2, "text.npz is not a whole .npz file"),
    (["pack", "cut.npz", "o.bin"], 2, "cut.npz is not a whole .npz file"),
    (["pack", "one.npz", "o.bin"], 2, "one.npz is not a whole .npz file"),
    (["pack", "text.safetensors", "o.bin"], 2, "text.safetensors is no .safetensors file"),
    (["pack", "tiny.bin", "o.bin"], 2, "tiny.bin is no .safetensors file"),
    (["pack", "heads.npz", "o.bin"], 2, "n_heads is many, expected an integer"),
    (["pack", "words.npz", "o.bin"], 2, "out.bias is of type <U1, expected numbers"),
    (["pack", "less.npz", "o.bin"], 2, "out.bias is missing"),
    (["pack", "a.npz", "o.bin", "--n-heads", "5"], 3, "expected a multiple of n_heads (5)"),
    (["pack", "a.npz", "o.bin", "--embedding", "int5"], 2, "'int5' is not one of"),
    (["pack", "a.npz", "o.json"], 2, "o.json: expected another ending"),
    (["pack", "a.npz", "none/o.bin"], 4, "none/o.bin: No such file"),
    (["pack", "a.npz", "folder"], 4, "folder: Is a directory"),
    (["convert", "none.bin", "o.bin", "--embedding", "int8"], 4, "none.bin: No such file"),
    (["convert", "text.npz", "o.bin", "--embedding", "int8"], 3, "magic is b'no m', expected"),
    (["convert", "cut.bin", "o.bin", "--embedding", "int8"], 3, "file length is"),
    (["convert", "tiny.bin", "o.bin"], 2, "Missing option '--embedding'"),
    (["convert", "beside.bin", "o.bin", "--embedding", "int8"], 2, "beside.json is not JSON"),
    (["unpack", "none.bin"], 4, "none.bin: No such file"),
    (["unpack", "damaged.bin"], 3, "SHA-256 of the file is"),
    (["unpack", "tiny.bin", "--out", "none/t.npz"], 4, "none/t.npz: No such file"),
    (["verify", "none.bin"], 4, "none.bin: No such file"),
    (["verify", "tiny.bin"], 3, "vocab_size is 50, expected 30522"),
    (["verify", "damaged.bin"], 3, ""),
    (["verify", "tiny.bin", "--texts", "none.txt"], 4, "none.txt: No such file"),
    (["verify", "tiny.bin", "--texts", "tiny.bin"], 2, "tiny.bin, line 1"),
    (["verify", "tiny.bin", "--texts", "empty.txt"], 2, "empty.txt is an empty file"),
    (["verify", "tiny.bin", "--engine", "folder"], 2, "folder holds no tern_engine"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), BAD, ids=lambda v: str(v)[:60])
def test_one_line_and_an_exit_code(
    folder: Path, cli: Any, arguments: list[str], code: int, message: str
) -> None:
    tensors = random_tensors(TINY, 8)
    np.savez("heads.npz", n_heads="many", max_seq_len=16, **tensors)  # type: ignore[arg-type]
    words = {**tensors, "out.bias": np.array(["a"] * 7)}
    np.savez("words.npz", n_heads=4, max_seq_len=16, **words)  # type: ignore[arg-type]
    del tensors["out.bias"]
    np.savez("less.npz", n_heads=4, max_seq_len=16, **tensors)  # type: ignore[arg-type]
    np.save("one", np.zeros(3))
    Path("one.npy").rename("one.npz")
    whole, model = Path("a.npz").read_bytes(), bytearray(Path("tiny.bin").read_bytes())
    Path("cut.npz").write_bytes(whole[:-100])
    Path("cut.bin").write_bytes(model[:-1])
    Path("beside.bin").write_bytes(model)
    Path("beside.json").write_text("{")
    model[100] ^= 1
    Path("damaged.bin").write_bytes(model)
    Path("text.npz").write_text("no model at all, but more than a hundred bytes of text. " * 3)
    Path("text.safetensors").write_text("no tensors at all")
    Path("empty.txt").touch()
    Path("folder").mkdir()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    found, out, err = cli(*arguments)
    assert (found, out) == (code, ""), err
    assert err.count("\n") == 1 and err.startswith("tern-engine: ") and message in err
    assert before == {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.mark.parametrize(
    "arguments",
    [
        ["pack", "w.npz", "o.bin", "--embedding", "fp32"],
        ["convert", "m.bin", "o.bin", "--embedding", "fp32"],
        ["unpack", "m.bin", "--out", "o.npz"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_full_disk_leaves_the_old_files(folder: Path, arguments: list[str]) -> None:
    Path("m.bin").write_bytes(random_model(SMALL, 1))
    np.savez("w.npz", n_heads=4, max_seq_len=16, **random_tensors(SMALL, 1))  # type: ignore[arg-type]
    for name in ("o.bin", "o.json", "o.npz"):
        Path(name).write_text("old")
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    said = on_a_full_disk(8, *arguments)
    assert re.search(r"o\.(bin|npz): File too large", said)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_safetensors_is_an_extra(folder: Path) -> None:
    script = "import sys; sys.modules['safetensors'] = None\n"
    script += "from tern_tools.cli import main; main()"
    Path("a.safetensors").touch()
    for source, code in (("a.safetensors", 2), ("a.npz", 0)):
        done = subprocess.run(
            [sys.executable, "-c", script, "pack", source, "o.bin"],
            env=ENVIRONMENT, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == code
        assert (code == 0) != ("pip install 'tern-tools[models]'" in done.stderr)
        assert done.stderr.count("\n") == (code != 0)
