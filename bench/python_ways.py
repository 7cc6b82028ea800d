"""One call a text beside embed_batch on CPython: python -m bench.python_ways WORK.json RESULT.json

As js/ways.mjs: two engines on the same texts, chunk by chunk in turn; process-CPU time.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from pathlib import Path

from tern_engine import Engine

CHUNK = 500


def ways(warmup: list[str], mixed: list[str]) -> dict[str, float]:
    """{"single", "batch"}: milliseconds a text, the medians."""
    one, many = Engine.load(), Engine.load()
    for engine in (one, many):
        engine.embed_batch(warmup)
    for text in warmup:
        one.embed(text)
    spent: dict[str, list[float]] = {"single": [], "batch": []}
    for at in range(0, len(mixed), CHUNK):
        texts = mixed[at : at + CHUNK]
        gc.collect()
        start = time.process_time()
        for text in texts:
            one.embed(text)
        spent["single"].append(1000 * (time.process_time() - start) / len(texts))
        gc.collect()
        start = time.process_time()
        many.embed_batch(texts)
        spent["batch"].append(1000 * (time.process_time() - start) / len(texts))
    one.dispose()
    many.dispose()
    return {way: statistics.median(ms) for way, ms in spent.items()}


def main(work_path: str, result_path: str) -> None:
    work = json.loads(Path(work_path).read_text("utf-8"))
    Path(result_path).write_text(json.dumps(ways(work["warmup"], work["mixed"])), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
