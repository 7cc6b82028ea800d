"""What threads and processes bring on CPython: the rate of one engine, of a pool, of processes.

    PYTHONPATH=pyapp python -m bench.python_threads [COUNT [ROUNDS]]

Ways take turns in one run. Two threads or processes need two idle cores to show what they bring.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tern_engine import Engine
from tern_tools import EnginePool

SENTENCES = Path(__file__).with_name("sentences.txt")


def rates(count: int, rounds: int) -> dict[str, list[float]]:
    """Way of embedding the same `count` sentences → texts a second of each round."""
    texts = SENTENCES.read_text("utf-8").splitlines()[:count]
    engine, pool = Engine.load(), EnginePool(2)
    ways: dict[str, Callable[[], Any]] = {
        "one engine": lambda: engine.embed_batch(texts),
        "pool of two, two threads": lambda: pool.embed_batch(texts),
        "two processes, with their start": lambda: engine.encode(texts, 64, num_workers=2),
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for way in [*ways.values()][:2]:
        way()
    for _ in range(rounds):
        for name, way in ways.items():
            begun = time.perf_counter()
            way()
            found[name].append(len(texts) / (time.perf_counter() - begun))
    pool.dispose()
    engine.dispose()
    return found


def lines(found: dict[str, list[float]]) -> list[str]:
    """The rates as a table: best and median, and the median of the ratios to one engine's."""
    table = [f"{'texts a second':34}{'best':>8}{'median':>8}{'× one':>8}"]
    for name, each in found.items():
        ratio = statistics.median(
            rate / one for rate, one in zip(each, found["one engine"], strict=True)
        )
        table.append(f"{name:34}{max(each):8.0f}{statistics.median(each):8.0f}{ratio:8.2f}")
    return table


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    count, rounds = [*given, *(3900, 5)[len(given) :]]
    print("\n".join(lines(rates(count, rounds))))
