"""Runs a plan on CPython: python -m bench.python_host WORK.json RESULT.json

The counterpart of js/node.mjs: tern and the obvious SIMD build through wasmtime, the peer through
onnxruntime's native library, all on one thread.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
from tern_engine import Engine

from . import bert
from .obvious import Obvious

REWARM_SECONDS = 0.04


@dataclass(frozen=True)
class Contender:
    """prepare: an item of the plan → what `embed`, the timed part, takes."""

    name: str
    dim: int
    warmup: int
    prepare: Callable[[dict[str, Any]], Any]
    embed: Callable[[Any], Any]


def tern(model: str, warmup: int) -> Contender:
    engine = Engine.load(model)
    dim = json.loads(engine.config_summary())["d_model"]
    return Contender("tern", dim, warmup, lambda item: item["text"], engine.embed)


def obvious(wasm: str, model: str, warmup: int) -> Contender:
    made = Obvious(Path(wasm), Path(model))
    return Contender("obvious-simd", made.dim, warmup, lambda item: item["ids"], made.embed)


def minilm(path: str, warmup: int) -> Contender:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def prepare(item: dict[str, Any]) -> dict[str, Any]:
        ids = np.array([item["ids"]], np.int64)
        names = ("input_ids", "attention_mask", "token_type_ids")
        return dict(zip(names, (ids, np.ones_like(ids), np.zeros_like(ids)), strict=True))

    def embed(feeds: dict[str, Any]) -> bert.Array:
        [hidden] = session.run(["last_hidden_state"], feeds)
        return bert.sentence_vector(np.asarray(hidden[0], np.float32))

    return Contender("minilm-q8-native", 384, warmup, prepare, embed)


def measure(contenders: list[Contender], plan: dict[str, Any]) -> list[dict[str, Any]]:
    """What measure() of js/measure.mjs does, which says why."""
    rewarming = cycle(plan["warmup"])
    for contender in contenders:
        for item in plan["warmup"][: contender.warmup]:
            contender.embed(contender.prepare(item))
    samples = []
    for sizes in plan["rounds"]:
        for size in sizes:
            for contender in contenders:
                timed = [contender.prepare(item) for item in size["items"]]
                gc.collect()
                end = time.perf_counter() + REWARM_SECONDS
                while time.perf_counter() < end:
                    contender.embed(contender.prepare(next(rewarming)))
                start = time.process_time()
                for prepared in timed:
                    contender.embed(prepared)
                ms = 1000 * (time.process_time() - start) / len(timed)
                samples.append(
                    {
                        "engine": contender.name,
                        "dim": contender.dim,
                        "tokens": size["tokens"],
                        "ms": ms,
                    }
                )
    return samples


def main(work_path: str, result_path: str) -> None:
    work = json.loads(Path(work_path).read_text("utf-8"))
    warmup = work["warmup"]
    contenders = []
    for model in work["models"]:
        contenders.append(tern(model, warmup["tern"]))
        contenders.append(obvious(work["obvious"], model, warmup["obvious"]))
    contenders.append(minilm(work["minilm"], warmup["minilm"]))
    samples = measure(contenders, work["plan"])
    proofs = [
        {
            "engine": contender.name,
            "dim": contender.dim,
            "tokens": size["tokens"],
            "vector": [float(x) for x in contender.embed(contender.prepare(size["items"][0]))],
        }
        for contender in contenders
        for size in work["plan"]["rounds"][0]
    ]
    Path(result_path).write_text(json.dumps({"samples": samples, "proofs": proofs}), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
