"""The peer's graph, made here from its weights, beside the same pass in numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest

from bench import bert, bert_onnx, peer

TINY = bert.BertShape(
    vocab_size=60,
    hidden_size=16,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=32,
    max_position_embeddings=20,
    type_vocab_size=2,
    layer_norm_eps=1e-12,
)
IDS = [2, 17, 33, 5, 59, 17, 3]


def random_bert(shape: bert.BertShape, seed: int) -> bert.Tensors:
    rng = np.random.default_rng(seed)
    d, up = shape.hidden_size, shape.intermediate_size

    def normal(*size: int) -> bert.Array:
        return rng.normal(0, 0.3, size).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": normal(shape.vocab_size, d),
        "embeddings.position_embeddings.weight": normal(shape.max_position_embeddings, d),
        "embeddings.token_type_embeddings.weight": normal(shape.type_vocab_size, d),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(shape.num_hidden_layers):
        at = bert.layer_prefix(layer)
        norms += [at + "attention.output.LayerNorm", at + "output.LayerNorm"]
        linears = {f"attention.self.{name}": (d, d) for name in ("query", "key", "value")}
        linears["attention.output.dense"] = (d, d)
        linears |= {"intermediate.dense": (up, d), "output.dense": (d, up)}
        for name, size in linears.items():
            tensors |= {f"{at}{name}.weight": normal(*size), f"{at}{name}.bias": normal(size[0])}
    for name in norms:
        tensors |= {f"{name}.weight": 1 + normal(d), f"{name}.bias": normal(d)}
    return tensors


def onnx_outputs(model: bytes, ids: list[list[int]], mask: list[list[int]]) -> bert.Array:
    """last_hidden_state [batch, T, d] of an ONNX model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {
        "input_ids": np.array(ids, np.int64),
        "attention_mask": np.array(mask, np.int64),
        "token_type_ids": np.zeros_like(np.array(ids, np.int64)),
    }
    [output] = session.run(["last_hidden_state"], feeds)
    return np.asarray(output, np.float32)


@pytest.mark.parametrize("seed", range(3))
def test_the_graph_computes_what_numpy_computes(seed: int) -> None:
    tensors = random_bert(TINY, seed)
    expected = bert.last_hidden_state(TINY, tensors, IDS)
    found = onnx_outputs(
        bert_onnx.build(TINY, tensors).SerializeToString(), [IDS], [[1] * len(IDS)]
    )
    assert found.shape == (1, len(IDS), TINY.hidden_size)
    np.testing.assert_allclose(found[0], expected, atol=2e-5)


def test_the_graph_ignores_what_the_mask_leaves_out() -> None:
    tensors = random_bert(TINY, 0)
    expected = bert.last_hidden_state(TINY, tensors, IDS)
    padded, mask = [*IDS, 0, 0], [1] * len(IDS) + [0, 0]
    found = onnx_outputs(bert_onnx.build(TINY, tensors).SerializeToString(), [padded], [mask])
    np.testing.assert_allclose(found[0, : len(IDS)], expected, atol=2e-5)


def test_the_quantized_graph_is_fused_and_stays_close(tmp_path: Path) -> None:
    tensors = random_bert(TINY, 1)
    path = tmp_path / "q8.onnx"
    peer.quantize(bert_onnx.build(TINY, tensors), TINY, path)
    assert list(tmp_path.iterdir()) == [path]

    import onnx

    kinds = [node.op_type for node in onnx.load(path).graph.node]
    assert kinds.count("QAttention") == TINY.num_hidden_layers
    assert kinds.count("MatMulInteger") == 3 * TINY.num_hidden_layers
    assert "MatMul" not in kinds
    found = onnx_outputs(path.read_bytes(), [IDS], [[1] * len(IDS)])[0]
    expected = bert.sentence_vector(bert.last_hidden_state(TINY, tensors, IDS))
    assert bert.sentence_vector(found) @ expected > 0.98


def test_an_encoder_of_another_kind_is_refused() -> None:
    config = {name: getattr(TINY, name) for name in TINY.__dataclass_fields__}
    assert bert.BertShape.from_config({**config, "hidden_act": "gelu"}) == TINY
    with pytest.raises(ValueError, match="hidden_act is 'relu'"):
        bert.BertShape.from_config({**config, "hidden_act": "relu"})
    with pytest.raises(ValueError, match="absolute"):
        bert.BertShape.from_config(
            {**config, "hidden_act": "gelu", "position_embedding_type": "relative_key"}
        )


def test_sentence_vector_is_the_mean_at_length_one() -> None:
    hidden = np.array([[1, 0], [5, 8]], np.float32)
    np.testing.assert_allclose(bert.sentence_vector(hidden), [0.6, 0.8], rtol=1e-6)
    assert not bert.sentence_vector(np.zeros((2, 2), np.float32)).any()
