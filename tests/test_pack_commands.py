"""Tensor files, sidecars and the commands of training.pack."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from tern_engine.format import Header, sections
from tern_tools.models.convert import convert
from tern_tools.models.pack import load_tensors, pack
from tern_tools.models.sidecar import describe
from tern_tools.models.unpack import UnpackedModel

from tests.support.models import TINY, of_format, random_model, random_tensors
from training.pack.__main__ import main


@pytest.fixture
def tensor_files(tmp_path: Path) -> list[Path]:
    """The same tensors as .npz and as .safetensors."""
    from safetensors.numpy import save_file

    tensors = random_tensors(TINY, 8)
    npz, safe = tmp_path / "a.npz", tmp_path / "a.safetensors"
    np.savez(npz, n_heads=4, max_seq_len=16, **tensors)  # type: ignore[arg-type]
    save_file(tensors, safe, metadata={"n_heads": "4", "max_seq_len": "16"})
    return [npz, safe]


def test_load_tensors(tensor_files: list[Path]) -> None:
    wanted = random_tensors(TINY, 8)
    for path in tensor_files:
        tensors, numbers = load_tensors(path)
        assert numbers == {"n_heads": 4, "max_seq_len": 16}
        assert set(tensors) == set(wanted)
        assert pack(tensors, embedding_format="int8", **numbers) == random_model(
            of_format(TINY, "int8"), 8
        )


def test_pack_convert_and_unpack_commands(
    tensor_files: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, other = tmp_path / "model.bin", tmp_path / "other.bin"
    for source in tensor_files:
        arguments = ["pack", str(source), str(model), "--embedding", "int4", "--note", "a note"]
        assert main(arguments) == 0
        assert model.read_bytes() == random_model(TINY, 8)
        record = json.loads(model.with_suffix(".json").read_text("utf-8"))
        assert record["source"]["file"] == source.name
        assert record["notes"] == ["a note"]
        assert record["file"] == "model.bin"
        assert {key: record[key] for key in describe(model.read_bytes())} == describe(
            model.read_bytes()
        )
        assert str(tmp_path) not in model.with_suffix(".json").read_text("utf-8")

    assert main(["convert", str(model), str(other), "--embedding", "fp32"]) == 0
    assert other.read_bytes() == convert(model.read_bytes(), "fp32")
    first = other.with_suffix(".json").read_bytes()
    assert main(["convert", str(model), str(other), "--embedding", "fp32"]) == 0
    assert other.with_suffix(".json").read_bytes() == first

    capsys.readouterr()
    assert main(["unpack", str(model), "--out", str(tmp_path / "out.npz")]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^d_model +12$", printed, re.MULTILINE)
    assert "layers.1.ffn.down.codes [12, 20]" in printed
    with np.load(tmp_path / "out.npz") as saved:
        assert set(saved) == {section.name for section in sections(TINY)}


def test_commands_refuse_with_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    npz, model = tmp_path / "a.npz", tmp_path / "model.bin"
    np.savez(npz, **random_tensors(TINY, 8))  # type: ignore[arg-type]
    assert main(["pack", str(npz), str(model)]) == 2
    assert "n_heads is not in the source, expected --n-heads" in capsys.readouterr().err
    assert main(["pack", str(npz), str(model), "--n-heads", "4", "--max-seq-len", "16"]) == 0
    model.write_bytes(model.read_bytes()[:-1])
    assert main(["unpack", str(model)]) == 3
    assert f"tern-engine: {model}: file length is" in capsys.readouterr().err
    assert main(["convert", str(tmp_path / "none.bin"), str(model), "--embedding", "int8"]) == 4
    assert "none.bin" in capsys.readouterr().err


def test_verify_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, texts = tmp_path / "model.bin", tmp_path / "texts.txt"
    model.write_bytes(random_model(Header("int4", 30522, 12, 1, 4, 20, 7, 16), 1))
    texts.write_text("one text\nanother text\n\nthe third and last, in ünïcödé\n", "utf-8")
    assert main(["verify", str(model), "--texts", str(texts)]) == 0
    assert re.match(r"4 texts: worst cosine \d\.\d{8} \(text \d\), ", capsys.readouterr().out)
    assert main(["verify", str(model)]) == 0
    # A vocabulary that is not the tokenizer's: the engine refuses.
    model.write_bytes(random_model(TINY, 1))
    assert main(["verify", str(model)]) == 3
    assert "vocab_size is 50, expected 30522" in capsys.readouterr().err


def test_verify_command_fails_out_of_tolerance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model.bin"
    model.write_bytes(random_model(Header("int4", 30522, 12, 1, 4, 20, 7, 16), 1))
    forward = UnpackedModel.forward
    monkeypatch.setattr(UnpackedModel, "forward", lambda self, ids: np.roll(forward(self, ids), 1))
    assert main(["verify", str(model)]) == 1
    assert "out of tolerance" in capsys.readouterr().out
