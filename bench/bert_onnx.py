"""The ONNX graph of a BERT encoder, node by node as an exporter writes it.

Built with onnx's own helpers from the float tensors, so that nobody needs a deep-learning framework
to run the benchmark. The node patterns matter: onnxruntime recognises an exporter's attention,
layer norm, GELU and quantized products and fuses them, which the peer is entitled to.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from .bert import BertShape, Tensors, layer_prefix

OPSET = 17
IR_VERSION = 8
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
OUTPUT = "last_hidden_state"


class _Graph:
    """Nodes and constants in the order they are made; every method returns a value's name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants.setdefault(name, numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def scalar(self, value: float) -> str:
        return self.constant(f"f32_{value!r}", np.array(value, np.float32))

    def shape(self, *sizes: int) -> str:
        return self.constant("i64_" + "_".join(map(str, sizes)), np.array(sizes, np.int64))


def build(shape: BertShape, w: Tensors) -> onnx.ModelProto:
    """Three int64 inputs [batch, sequence] → `last_hidden_state` [batch, sequence, hidden_size]."""
    g = _Graph()

    def weight(name: str) -> str:
        return g.constant(name, w[name])

    def linear(x: str, name: str) -> str:
        # ONNX multiplies x by a matrix [in, out]; the tensors are stored [out, in].
        product = g.op("MatMul", x, g.constant(name + ".weight_t", w[name + ".weight"].T))
        return g.op("Add", product, weight(name + ".bias"))

    def layer_norm(x: str, name: str) -> str:
        scale, bias = weight(name + ".weight"), weight(name + ".bias")
        return g.op(
            "LayerNormalization", x, scale, bias, axis=-1, epsilon=float(shape.layer_norm_eps)
        )

    def embeddings() -> str:
        words = g.op("Gather", weight("embeddings.word_embeddings.weight"), "input_ids")
        kinds = g.op("Gather", weight("embeddings.token_type_embeddings.weight"), "token_type_ids")
        every_position = g.constant(
            "position_ids", np.arange(shape.max_position_embeddings, dtype=np.int64)[None]
        )
        length = g.op("Shape", "input_ids", start=1, end=2)
        positions = g.op("Slice", every_position, g.shape(0), length, g.shape(1))
        places = g.op("Gather", weight("embeddings.position_embeddings.weight"), positions)
        return layer_norm(g.op("Add", g.op("Add", words, kinds), places), "embeddings.LayerNorm")

    def attention(x: str, mask: str, at: str) -> str:
        parted = g.shape(0, 0, shape.num_attention_heads, shape.head_size)

        def heads(name: str, order: list[int]) -> str:
            y = linear(x, f"{at}attention.self.{name}")
            return g.op("Transpose", g.op("Reshape", y, parted), perm=order)

        q = heads("query", [0, 2, 1, 3])
        k = heads("key", [0, 2, 3, 1])
        v = heads("value", [0, 2, 1, 3])
        score = g.op("Div", g.op("MatMul", q, k), g.scalar(math.sqrt(shape.head_size)))
        share = g.op("Softmax", g.op("Add", score, mask), axis=-1)
        mixed = g.op("Transpose", g.op("MatMul", share, v), perm=[0, 2, 1, 3])
        joined = g.op("Reshape", mixed, g.shape(0, 0, shape.hidden_size))
        return linear(joined, at + "attention.output.dense")

    def gelu(x: str) -> str:
        erf = g.op("Erf", g.op("Div", x, g.scalar(math.sqrt(2))))
        return g.op("Mul", g.op("Mul", x, g.op("Add", erf, g.scalar(1.0))), g.scalar(0.5))

    # One axis at a time, the way exporters write it and onnxruntime's attention fusion expects it.
    attended = g.op("Unsqueeze", g.op("Unsqueeze", "attention_mask", g.shape(1)), g.shape(2))
    absent = g.op("Sub", g.scalar(1.0), g.op("Cast", attended, to=TensorProto.FLOAT))
    mask = g.op("Mul", absent, g.scalar(float(np.finfo(np.float32).min)))
    x = embeddings()
    for layer in range(shape.num_hidden_layers):
        at = layer_prefix(layer)
        x = layer_norm(g.op("Add", attention(x, mask, at), x), at + "attention.output.LayerNorm")
        up = gelu(linear(x, at + "intermediate.dense"))
        x = layer_norm(g.op("Add", linear(up, at + "output.dense"), x), at + "output.LayerNorm")
    g.nodes.append(helper.make_node("Identity", [x], [OUTPUT], name=OUTPUT))
    return _model(g, shape)


def _model(g: _Graph, shape: BertShape) -> onnx.ModelProto:
    sizes = ["batch", "sequence"]
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, sizes) for name in INPUTS]
    output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [*sizes, shape.hidden_size])
    graph = helper.make_graph(g.nodes, "bert", inputs, [output], list(g.constants.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model, full_check=True)
    return model
