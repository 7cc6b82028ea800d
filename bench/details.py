"""What the time of one text at a time does not show: js/details.mjs says what is measured."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from . import browser, hosts, texts

SCRIPT = Path(__file__).with_name("js") / "details.mjs"
THREAD, WORKER = "the calling thread, by the clock", "a worker, by the clock"
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Ways:
    """Milliseconds a text: one call a text, and one call of embed_batch."""

    single: float
    batch: float


@dataclass(frozen=True)
class Details:
    """outside: share of the time outside the kernel. ways: host, and where and how it was timed →
    both. pool, batches: milliseconds a text."""

    outside: float
    ways: dict[tuple[str, str], Ways]
    pool: float
    batches: dict[str, float]

    def per_size(self) -> dict[int, float]:
        """Batch size → milliseconds a text."""
        return {int(size): ms for size, ms in self.batches.items()}


def mixed(sentences: Sequence[str], count: int) -> list[str]:
    """Distinct short texts of many lengths: sentences, and the halves of sentences.

    Raises ValueError when there are too few.
    """
    halves = []
    for sentence in sentences:
        words = sentence.split()
        middle = (len(words) + 1) // 2
        halves += [sentence, " ".join(words[:middle]), " ".join(words[middle:])]
    found = list(islice((text for text in dict.fromkeys(halves) if text), count))
    if len(found) < count:
        raise ValueError(f"{len(found)} mixed texts, {count} are asked for")
    return found


def measure(plan: texts.Plan, count: int, address: str, folder: Path, tokens: int = 12) -> Details:
    """`count` mixed texts; the plan's texts of `tokens` tokens for the share and the batches.
    `folder` is what is served at `address`."""
    work = {
        "tern": hosts.SITE_MODULE.as_uri(),
        "warmup": [item.text for item in plan.warmup],
        "texts": [item.text for sizes in plan.rounds for item in sizes[tokens]],
        "mixed": mixed(texts.sentences(), count),
        "batchSizes": [size for size in BATCH_SIZES if size <= max(count // 40, 1)],
    }
    found = hosts.answer(["node", "--expose-gc", str(SCRIPT)], work)
    (folder / "bench" / "ways.json").write_text(json.dumps(work), "utf-8")
    with browser.started(["--js-flags=--expose-gc"]) as chrome:
        page = chrome.outcome(f"{address}bench/pages/ways.html")
    python = hosts.answer([sys.executable, "-m", "bench.python_ways"], work)
    ways = {
        ("node", "processor time"): found.pop("processor"),
        ("node", THREAD): found.pop("thread"),
        ("node", WORKER): found.pop("worker"),
        ("chromium", THREAD): page["thread"],
        ("chromium", WORKER): page["worker"],
        ("cpython", "processor time"): python,
    }
    return Details(**found, ways={where: Ways(**both) for where, both in ways.items()})
