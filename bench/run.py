"""`python3 build.py bench`: this engine and its peer, side by side, in one run.

Python deals out the texts, makes the peer's model and judges the vectors; the engines run in one
Node process on one thread, taking turns (js/measure.mjs).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tern_engine.tokenizer import Tokenizer

from . import bert, peer, report, texts

ROOT = peer.ROOT
SITE_MODULE = ROOT / "dist" / "web" / "tern-engine.js"
NODE_SCRIPT = Path(__file__).with_name("js") / "node.mjs"
RESULTS = Path(__file__).with_name("RESULTS.md")

# The quantized peer against its float original. A sound one has about 0.99 on these texts.
LEAST_COSINE = 0.98


class BenchError(Exception):
    """A contender is not what it claims to be: its figures would mean nothing."""


@dataclass(frozen=True)
class Effort:
    """How much is run.

    per_round   token count → texts of a round
    warmup      texts before the measurement, for each engine: the peer keeps no cache of texts, so
                only its code has to be warm
    """

    per_round: Mapping[int, int]
    rounds: int
    warmup: Mapping[str, int]


FULL = Effort({8: 33, 12: 33, 16: 25, 32: 13, 64: 8, 128: 5}, 15, {"tern": 1000, "minilm": 100})
QUICK = Effort({8: 4, 12: 4, 16: 3, 32: 2, 64: 2, 128: 2}, 3, {"tern": 100, "minilm": 10})


def run_node(effort: Effort) -> tuple[list[report.Sample], dict[int, texts.Item], list[Any]]:
    """Measure in Node → samples, the texts whose vectors are proofs, and these vectors."""
    tokenizer = Tokenizer.from_file(ROOT / "assets" / "tokenizer.json")
    plan = texts.make_plan(
        texts.sentences(),
        tokenizer.tokenize,
        per_round=effort.per_round,
        rounds=effort.rounds,
        warmup=max(effort.warmup.values()),
    )
    work = {
        "tern": SITE_MODULE.as_uri(),
        "minilm": str(peer.model()),
        "warmup": effort.warmup,
        "plan": {
            "warmup": [asdict(item) for item in plan.warmup],
            "rounds": [
                [
                    {"tokens": tokens, "items": [asdict(item) for item in items]}
                    for tokens, items in sizes.items()
                ]
                for sizes in plan.rounds
            ],
        },
    }
    with tempfile.TemporaryDirectory() as scratch:
        plan_path, result_path = Path(scratch) / "plan.json", Path(scratch) / "result.json"
        plan_path.write_text(json.dumps(work), "utf-8")
        command = ["node", "--expose-gc", str(NODE_SCRIPT), str(plan_path), str(result_path)]
        subprocess.run(command, check=True)
        result = json.loads(result_path.read_text("utf-8"))
    samples = [report.Sample(**sample) for sample in result["samples"]]
    return samples, {size: items[0] for size, items in plan.rounds[0].items()}, result["proofs"]


def judge(
    proofs: Sequence[Mapping[str, Any]], original: Callable[[int], bert.Array], dim: int
) -> str:
    """Check every vector; a sentence for the report. `original`: token count → float vector [dim].

    Raises BenchError for a vector that is not a unit vector of `dim` floats, and for a peer that
    has strayed from the model that it is a quantized copy of.
    """
    cosines = []
    for proof in proofs:
        vector = np.array(proof["vector"], np.float32)
        where = f"{proof['engine']} at {proof['tokens']} tokens"
        if vector.shape != (dim,) or not np.isfinite(vector).all():
            raise BenchError(f"{where} returned no {dim} finite floats")
        if abs(float(np.linalg.norm(vector)) - 1) > 1e-3:
            raise BenchError(f"{where} returned a vector of length {np.linalg.norm(vector)}")
        if proof["engine"] != report.OURS:
            cosine = float(vector @ original(proof["tokens"]))
            if cosine < LEAST_COSINE:
                raise BenchError(f"{where} has cosine {cosine:.4f} to its original")
            cosines.append(cosine)
    if not cosines:
        raise BenchError("no vector of the peer was judged")
    return (
        f"The peer's vectors against the float model's: least cosine {min(cosines):.4f} of "
        f"{len(cosines)} texts ({LEAST_COSINE} is asked for)."
    )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="build.py bench", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there, too")
    parser.add_argument("--quick", action="store_true", help="few texts: does it run at all?")
    parser.add_argument("--write-results", action="store_true", help="write bench/RESULTS.md")
    options = parser.parse_args(arguments)
    if options.quick and options.write_results:
        parser.error("a quick run's figures are not results")

    samples, first_items, proofs = run_node(QUICK if options.quick else FULL)
    shape, tensors = bert.load(peer.weights())

    def original(tokens: int) -> bert.Array:
        hidden = bert.last_hidden_state(shape, tensors, first_items[tokens].ids)
        return bert.sentence_vector(hidden)

    measured = report.rows("node", samples)
    try:
        verdict = judge(proofs, original, shape.hidden_size)
    except BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1

    print(report.machine())
    print("Process-CPU milliseconds a text, one thread, median of the rounds.\n")
    print(report.table(measured))
    if options.quick:
        print("\nA quick run: too few texts for these figures to mean anything.")
    print(f"\n{verdict}")
    if options.json:
        options.json.write_text(json.dumps(report.document(measured), indent=1) + "\n", "utf-8")
    if options.write_results:
        RESULTS.write_text(report.results(measured, verdict), "utf-8")
        print(f"written: {os.path.relpath(RESULTS)}")
    return 0
