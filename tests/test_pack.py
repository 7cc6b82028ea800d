"""Packing and conversion of whole files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tern_engine.errors import TernError
from tern_engine.format import EMBEDDING_FORMATS, sections
from tern_tools.models.codes import (
    quantize_table,
)
from tern_tools.models.convert import convert
from tern_tools.models.pack import pack
from tern_tools.models.sidecar import describe
from tern_tools.models.unpack import UnpackedModel

from tests.support.models import TINY, of_format, random_model, random_tensors

ROOT = Path(__file__).resolve().parents[1]
QUANTIZED = ("int8", "int4", "ternary")


def pack_as(tensors: dict[str, NDArray[Any]], embedding_format: str) -> bytes:
    return pack(
        tensors,
        embedding_format=embedding_format,
        n_heads=TINY.n_heads,
        max_seq_len=TINY.max_seq_len,
    )


def test_packed_sections() -> None:
    tensors = random_tensors(TINY, 3)
    data = pack_as(tensors, "int4")
    parts = {s.name: data[s.offset : s.offset + s.nbytes] for s in sections(TINY)}
    for name, tensor in tensors.items():
        if name in parts:
            assert parts[name] == tensor.astype("<f4").tobytes()
    weight = tensors["layers.1.ffn.down.weight"]
    scale = np.frombuffer(parts["layers.1.ffn.down.scale"], dtype="<f4")[0]
    assert scale == np.float32(1) / np.sort(np.abs(weight).ravel())[weight.size // 2 - 1]
    model = UnpackedModel.from_bytes(data)
    codes = model.tensors["layers.1.ffn.down.codes"]
    assert codes.shape == (12, 20)
    np.testing.assert_array_equal(codes, np.clip(np.rint(weight * scale), -1, 1))
    assert not model.tensors["embedding"][0].any()
    assert model.tensors["embedding.scale"][0] == 0
    error = np.abs(model.float_table() - tensors["embedding.weight"])[1:]
    assert np.all(error <= model.tensors["embedding.scale"][1:, None] * 0.5001)


def test_float_table_is_stored_as_it_is() -> None:
    tensors = random_tensors(TINY, 3)
    model = UnpackedModel.from_bytes(pack_as(tensors, "fp32"))
    np.testing.assert_array_equal(model.tensors["embedding"], tensors["embedding.weight"])


@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_table_is_stored_untouched(name: str) -> None:
    """Codes that do not reach the range's end, so that requantizing would change the scales."""
    tensors = random_tensors(TINY, 4)
    random = np.random.default_rng(5)
    shape = tensors.pop("embedding.weight").shape
    largest = {"int8": 90, "int4": 5, "ternary": 1}[name]
    codes = random.integers(-largest, largest + 1, shape).astype(np.int8)
    scale = random.uniform(0.1, 2, len(codes)).astype(np.float32)
    tensors |= {f"embedding.{name}": codes, f"embedding.{name}_scale": scale}
    data = pack_as(tensors, name)
    model = UnpackedModel.from_bytes(data)
    np.testing.assert_array_equal(model.tensors["embedding"][1:], codes[1:])
    np.testing.assert_array_equal(model.tensors["embedding.scale"][1:], scale[1:])
    assert not model.tensors["embedding"][0].any()
    assert model.tensors["embedding.scale"][0] == 0

    # Packing again what was unpacked gives the same bytes.
    again = tensors | {
        f"embedding.{name}": model.tensors["embedding"],
        f"embedding.{name}_scale": model.tensors["embedding.scale"],
    }
    assert pack_as(again, name) == data

    # The same from float values beside the scales: on the grid in float16, or off it in float32.
    del again[f"embedding.{name}"]
    halves = model.float_table().astype(np.float16)
    assert pack_as(again | {"embedding.weight": halves}, name) == data
    nudge = random.uniform(-0.4, 0.4, shape) * model.tensors["embedding.scale"][:, None]
    nudged = np.asarray(model.float_table() + nudge, dtype=np.float32)
    assert pack_as(again | {"embedding.weight": nudged}, name) == data

    # In another format it is the conversion of that table.
    for other in EMBEDDING_FORMATS:
        assert pack_as(tensors, other) == convert(data, other)


def test_values_beyond_their_scale_are_clamped() -> None:
    tensors = random_tensors(TINY, 4)
    table = tensors["embedding.weight"]
    table[1] = 100
    tensors["embedding.int4_scale"] = np.full(len(table), 0.2, dtype=np.float32)
    model = UnpackedModel.from_bytes(pack_as(tensors, "int4"))
    assert set(model.tensors["embedding"][1].tolist()) == {7}
    assert model.tensors["embedding"].min() >= -7


@pytest.mark.parametrize("source", EMBEDDING_FORMATS)
@pytest.mark.parametrize("target", EMBEDDING_FORMATS)
def test_convert(source: str, target: str) -> None:
    data = random_model(of_format(TINY, source), 6)
    converted = convert(data, target)
    before, after = UnpackedModel.from_bytes(data), UnpackedModel.from_bytes(converted)
    assert after.header == of_format(TINY, target)
    for name, tensor in before.tensors.items():
        if not name.startswith("embedding"):
            np.testing.assert_array_equal(after.tensors[name], tensor)
    if source == target:
        assert converted == data
    elif target == "fp32":
        # Each product in float64 is exact, and is then rounded once.
        exact = (
            before.tensors["embedding"] * before.tensors["embedding.scale"].astype(float)[:, None]
        )
        np.testing.assert_array_equal(after.tensors["embedding"], exact.astype(np.float32))
        ids = [1, 2, 3, 49]
        np.testing.assert_array_equal(after.forward(ids), before.forward(ids))
    else:
        codes, scale = quantize_table(target, before.float_table())
        np.testing.assert_array_equal(after.tensors["embedding"], codes)
        np.testing.assert_array_equal(after.tensors["embedding.scale"], scale)
        assert convert(convert(data, "fp32"), target) == converted


@pytest.mark.parametrize("source", QUANTIZED)
def test_max_scaled_tables_come_back_from_floats(source: str) -> None:
    """A table quantized by the packer's own rule survives the way over fp32 (ternary cannot)."""
    data = random_model(of_format(TINY, source), 6)
    back = UnpackedModel.from_bytes(convert(convert(data, "fp32"), source))
    codes = UnpackedModel.from_bytes(data).tensors["embedding"]
    np.testing.assert_array_equal(back.tensors["embedding"], codes)


def test_convert_refuses_damage_and_unknown_formats() -> None:
    data = random_model(TINY, 6)
    for broken, target, code in [
        (data[:-1], "int8", "MODEL_LENGTH"),
        (data[:-1] + b"\0", "int4", "MODEL_CHECKSUM"),
        (data, "int2", "MODEL_EMBEDDING_FORMAT"),
    ]:
        with pytest.raises(TernError) as caught:
            convert(broken, target)
        assert caught.value.code == code


def without(name: str) -> dict[str, NDArray[Any]]:
    tensors = random_tensors(TINY, 1)
    del tensors[name]
    return tensors


def changed(**change: NDArray[Any]) -> dict[str, NDArray[Any]]:
    return random_tensors(TINY, 1) | {
        name.replace("__", "."): value for name, value in change.items()
    }


@pytest.mark.parametrize(
    ("tensors", "code", "message"),
    [
        (without("embedding.weight"), "INVALID_INPUT", "embedding.weight is missing"),
        (without("layers.0.ffn.up.weight"), "INVALID_INPUT", "layers.0.ffn.up.weight is missing"),
        (without("layers.1.attn.k.weight"), "INVALID_INPUT", "layers.1.attn.k.weight is missing"),
        (without("out.bias"), "INVALID_INPUT", "out.bias is missing"),
        (changed(pooler=np.ones(3)), "INVALID_INPUT", "unknown tensors: pooler"),
        (
            changed(layers__1__attn__q__bias=np.ones(12)),
            "INVALID_INPUT",
            "unknown tensors: layers.1.attn.q.bias",
        ),
        (
            changed(layers__1__ffn__down__weight=np.ones((20, 12))),
            "INVALID_INPUT",
            r"layers.1.ffn.down.weight is of shape \(20, 12\), expected \(12, 20\)",
        ),
        (
            changed(ln_final__weight=np.array([1.0] * 11 + [np.nan])),
            "MODEL_VALUE",
            "ln_final.weight is not finite",
        ),
        (
            changed(embedding__weight=np.full((50, 12), 1e39)),
            "MODEL_VALUE",
            "embedding.weight is not finite",
        ),
        (
            changed(embedding__int4_scale=np.ones(49)),
            "INVALID_INPUT",
            r"embedding.int4_scale is of shape \(49,\) beside a table of shape \(50, 12\)",
        ),
        (
            changed(embedding__int4_scale=-np.ones(50)),
            "MODEL_VALUE",
            "embedding.int4_scale is negative",
        ),
        (
            changed(embedding__int4=np.full((50, 12), -8), embedding__int4_scale=np.ones(50)),
            "INVALID_INPUT",
            "integers from -7 to 7",
        ),
        (
            changed(embedding__int8=np.full((50, 12), 0.5), embedding__int8_scale=np.ones(50)),
            "INVALID_INPUT",
            "integers from -127 to 127",
        ),
        (
            changed(embedding__int8_scale=np.ones(50), embedding__int4_scale=np.ones(50)),
            "INVALID_INPUT",
            "row scales of int8 and int4",
        ),
        (changed(embedding__weight=np.ones(50)), "INVALID_INPUT", "embedding.weight is of shape"),
        (changed(embedding__weight=np.ones((50, 10))), "MODEL_SHAPE", "d_model is 10"),
    ],
)
def test_pack_refuses(tensors: dict[str, NDArray[Any]], code: str, message: str) -> None:
    with pytest.raises(TernError, match=message) as caught:
        pack_as(tensors, "int4")
    assert caught.value.code == code


def test_pack_refuses_other_numbers() -> None:
    tensors = random_tensors(TINY, 1)
    for n_heads, max_seq_len, message in [
        (5, 16, r"d_model is 12, expected a multiple of n_heads \(5\)"),
        (4, 2, "max_seq_len is 2, expected 3 to 512"),
    ]:
        with pytest.raises(TernError, match=message):
            pack(tensors, embedding_format="int4", n_heads=n_heads, max_seq_len=max_seq_len)


def test_the_shipped_model_and_its_sidecar() -> None:
    data = (ROOT / "assets" / "model-int4.bin").read_bytes()
    record = json.loads((ROOT / "assets" / "model-int4.json").read_text("utf-8"))
    found = describe(data)
    assert {key: record[key] for key in found} == found
    model = UnpackedModel.from_bytes(data, build="int4", vocab_size=30522)
    assert not model.tensors["embedding"][0].any()
    assert convert(data, "int4") == data
    assert all(source["licence"] for source in record["training"]["sources"])
