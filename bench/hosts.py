"""Runs one plan on each host: Node, Chromium, CPython. All engines of a host take turns there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import browser, models, obvious, peer, report, site, texts

NODE_SCRIPT = Path(__file__).with_name("js") / "node.mjs"
PACKAGE = peer.ROOT / "build" / "packages" / "int4"
SITE_MODULE = site.SITE / "tern-engine.js"


@dataclass(frozen=True)
class Outcome:
    """samples, and the vectors that the judge gets; Node adds `gmacs` (width → 10^9 multiply-adds
    a second of the obvious build's products) and `peak` (of the SIMD unit)."""

    samples: list[report.Sample]
    proofs: list[dict[str, Any]]
    gmacs: dict[str, float]
    peak: float

    @classmethod
    def from_json(cls, host: str, result: Mapping[str, Any]) -> Outcome:
        samples = [report.Sample(host, **sample) for sample in result["samples"]]
        proofs = list(result["proofs"])
        return cls(samples, proofs, dict(result.get("gmacs", {})), float(result.get("peak", 0)))


def work(plan: texts.Plan, warmup: Mapping[str, int], gmac_ms: float) -> dict[str, Any]:
    """What the hosts' scripts read, with paths of files."""
    return {
        "tern": SITE_MODULE.as_uri(),
        "obvious": str(obvious.module()),
        "minilm": str(peer.model()),
        "models": [str(path) for path in models.paths().values()],
        "warmup": dict(warmup),
        "gmacMs": gmac_ms,
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


def node(task: Mapping[str, Any]) -> Outcome:
    return Outcome.from_json("node", answer(["node", "--expose-gc", str(NODE_SCRIPT)], task))


def cpython(task: Mapping[str, Any]) -> Outcome:
    return Outcome.from_json("cpython", answer([sys.executable, "-m", "bench.python_host"], task))


def chromium(task: Mapping[str, Any], address: str, folder: Path) -> Outcome:
    """`folder` is what is served at `address`; see site_files()."""
    served = {**task, "obvious": "bench/obvious.wasm"}
    served["models"] = [f"bench/models/{dim}.bin" for dim in models.paths()]
    (folder / "bench" / "work.json").write_text(json.dumps(served), "utf-8")
    with browser.started(["--js-flags=--expose-gc"]) as chrome:
        result = chrome.outcome(f"{address}bench/pages/race.html?work=/bench/work.json")
    return Outcome.from_json("chromium", result)


def site_files() -> dict[str, Path]:
    """Path in bench/ → file, of what chromium() needs."""
    files = {f"models/{dim}.bin": path for dim, path in models.paths().items()}
    return {**files, "obvious.wasm": obvious.module()}


def environment() -> dict[str, str]:
    """Of the processes that measure: CPython takes the package that the site was made from, and
    numpy one thread."""
    return {**os.environ, "PYTHONPATH": str(PACKAGE), "OPENBLAS_NUM_THREADS": "1"}


def answer(command: Sequence[str], task: Mapping[str, Any]) -> dict[str, Any]:
    """What a script writes to the second of two files that it is given; the first has `task`."""
    with tempfile.TemporaryDirectory() as scratch:
        asked, answered = Path(scratch) / "work.json", Path(scratch) / "result.json"
        asked.write_text(json.dumps(task), "utf-8")
        subprocess.run(
            [*command, str(asked), str(answered)], check=True, cwd=peer.ROOT, env=environment()
        )
        found: dict[str, Any] = json.loads(answered.read_text("utf-8"))
        return found
