"""The numpy reference itself, against plain Python and against cases worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tern_engine.errors import InvalidInputError
from tern_engine.format import EMBEDDING_FORMATS, Header
from tern_tools.models.pack import pack, tensor_shapes
from tern_tools.models.unpack import UnpackedModel, attention, gelu, layer_norm

from tests.support.models import TINY, of_format, random_model, random_tensors
from tests.support.plain_forward import plain_forward

SHAPES = {
    "tiny": TINY,
    "three layers": Header("int4", 60, 12, 3, 4, 20, 38, 32),
    "one head": Header("int4", 60, 16, 1, 1, 24, 33, 32),
    "head of 4": Header("int4", 61, 20, 2, 5, 44, 64, 32),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("embedding_format", EMBEDDING_FORMATS)
def test_equals_plain_python(shape: str, embedding_format: str) -> None:
    header = of_format(SHAPES[shape], embedding_format)
    data = random_model(header, 11)
    model = UnpackedModel.from_bytes(data)
    random = np.random.default_rng(12)
    for length in (1, 2, 3, 7, 16):
        ids = random.integers(0, header.vocab_size, length).tolist()
        found, wanted = model.forward(ids), np.array(plain_forward(data, ids))
        assert found.dtype == np.float32
        assert found.shape == (header.output_dim,)
        # float32 against float64: an activation at a half may round the other way.
        assert np.abs(found - wanted).max() < 1e-3
        assert found @ wanted > 0.99999


def test_rows_that_add_nothing() -> None:
    """With matrices of zeros and no biases, what is left is norm, mean, projection, unit length."""
    header = Header("fp32", 3, 4, 1, 2, 4, 2, 8)
    tensors = {name: np.zeros(shape) for name, shape in tensor_shapes(header).items()}
    tensors["embedding.weight"] = np.array([[0, 0, 0, 0], [1, 1, -1, -1], [2, 0, 0, -2.0]])
    tensors["ln_final.weight"] = np.array([1, 2, 3, 4.0])
    tensors["ln_final.bias"] = np.array([0.5, 0, 0, 0])
    tensors["out.weight"] = np.array([[1, 0, 0, 0], [0, 1, 1, 1.0]])
    tensors["out.bias"] = np.array([0, 0.25])
    data = pack(tensors, embedding_format="fp32", n_heads=2, max_seq_len=8)
    one, root = 1 / math.sqrt(1 + 1e-5), 2 / math.sqrt(2 + 1e-5)
    # Token 1 normalizes to +-one, token 2 to (root, 0, 0, -root); then gain, offset and mean.
    first = 0.5 + (one + root) / 2
    rest = (2 * one - 3 * one - 4 * one - 4 * root) / 2 + 0.25
    length = math.hypot(first, rest)
    found = UnpackedModel.from_bytes(data).forward([1, 2])
    np.testing.assert_allclose(found, [first / length, rest / length], rtol=1e-6)
    # Neither order nor repetition matters without positions and with nothing attended.
    np.testing.assert_allclose(
        UnpackedModel.from_bytes(data).forward([2, 1, 1, 2]), found, rtol=1e-6
    )


def test_bias_is_added_before_the_rescale() -> None:
    """Codes of +1 on activations 127, -128, 127, -128: the product is -2, then comes the bias."""
    header = Header("fp32", 2, 4, 1, 1, 4, 4, 8)
    tensors = {name: np.zeros(shape) for name, shape in tensor_shapes(header).items()}
    tensors["embedding.weight"] = np.array([[0, 0, 0, 0], [1, -1, 1, -1.0]])
    tensors["layers.0.ln_2.weight"] = np.ones(4)
    tensors["layers.0.ffn.up.weight"] = np.full((4, 4), 0.5)
    tensors["layers.0.ffn.up.bias"] = np.array([100, 200, 300, 400.0])
    model = UnpackedModel.from_bytes(
        pack(tensors, embedding_format="fp32", n_heads=1, max_seq_len=8)
    )
    x = np.array([[1, -1, 1, -1]], dtype=np.float32)
    normal = 1 / math.sqrt(1 + 1e-5)
    s_x = 128 / (normal / math.sqrt(normal**2 + 1e-5))  # the norm in BitLinear normalizes again
    found = model._bit(layer_norm(x), "layers.0.ffn.up")
    np.testing.assert_allclose(found, [np.array([98, 198, 298, 398]) / (2 * s_x)], rtol=1e-5)


def test_activations_are_clamped_to_int8() -> None:
    """The largest activation lands on +-128; +128 is clamped to 127, -128 is kept."""
    header = Header("fp32", 2, 4, 1, 1, 4, 4, 8)
    tensors = random_tensors(header, 0)
    tensors["layers.0.attn.q.weight"] = np.eye(4)
    model = UnpackedModel.from_bytes(
        pack(tensors, embedding_format="fp32", n_heads=1, max_seq_len=8)
    )
    scale = float(model.tensors["layers.0.attn.q.scale"])
    for sign, wanted in ((1, 127), (-1, -128)):
        x = sign * np.array([[3, -1, -1, -1]], dtype=np.float32)
        s_x = 128 / np.abs(layer_norm(x)).max()
        found = model._bit(x, "layers.0.attn.q") * scale * s_x
        assert found[0, 0] == pytest.approx(wanted, rel=1e-6)


def test_layer_norm_by_hand() -> None:
    x = np.array([[1, 2, 3, 4], [5, 5, 5, 5]], dtype=np.float32)
    root = math.sqrt(1.25 + 1e-5)
    wanted = np.array([[-1.5, -0.5, 0.5, 1.5], [0, 0, 0, 0]]) / root
    np.testing.assert_allclose(layer_norm(x), wanted, rtol=1e-6)


def test_attention_by_hand() -> None:
    """Two heads of one column: in the second, logits of log 3 and 0 give weights 3/4 and 1/4."""
    q = np.array([[0, 1], [0, 0]], dtype=np.float32)
    k = np.array([[5, math.log(3)], [7, 0]], dtype=np.float32)
    v = np.array([[1, 10], [3, 20]], dtype=np.float32)
    wanted = np.array([[2, 12.5], [2, 15]])
    np.testing.assert_allclose(attention(q, k, v, 2), wanted, rtol=1e-6)


def test_attention_survives_large_logits() -> None:
    q = np.array([[1e4]], dtype=np.float32)
    assert attention(q, q, q, 1) == np.float32(1e4)


@pytest.mark.parametrize(
    ("x", "wanted"),
    # x * Phi(x), from tables of the normal distribution.
    [(0, 0), (1, 0.8413447461), (-1, -0.1586552539), (3, 2.9959503059), (-6, -5.9192e-9)],
)
def test_gelu(x: float, wanted: float) -> None:
    found = gelu(np.array([x], dtype=np.float32))[0]
    assert found == pytest.approx(wanted, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("ids", [[], [-1], [50], [1, 2, 50], [[1, 2]]])
def test_ids_out_of_range(ids: list[int]) -> None:
    with pytest.raises(InvalidInputError):
        UnpackedModel.from_bytes(random_model(TINY, 0)).forward(ids)


def test_a_vector_of_zeros_stays_finite() -> None:
    tensors = random_tensors(TINY, 0)
    tensors["out.weight"][:] = 0
    tensors["out.bias"][:] = 0
    data = pack(tensors, embedding_format="int4", n_heads=4, max_seq_len=16)
    assert not UnpackedModel.from_bytes(data).forward([1, 2, 3]).any()
