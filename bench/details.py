"""What the time of one text at a time does not show: js/details.mjs says what is measured."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from . import hosts, peer, texts

SCRIPT = Path(__file__).with_name("js") / "details.mjs"
BATCH_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


@dataclass(frozen=True)
class Details:
    """outside: share of the time outside the kernel; the rest is milliseconds a text."""

    outside: float
    single: float
    batch: float
    single_wall: float
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


def measure(plan: texts.Plan, count: int, tokens: int = 12) -> Details:
    """`count` mixed texts; the plan's texts of `tokens` tokens for the share and the batches."""
    work = {
        "tern": hosts.SITE_MODULE.as_uri(),
        "warmup": [item.text for item in plan.warmup],
        "texts": [item.text for sizes in plan.rounds for item in sizes[tokens]],
        "mixed": mixed(texts.sentences(), count),
        "batchSizes": [size for size in BATCH_SIZES if size <= max(count // 40, 1)],
    }
    with tempfile.TemporaryDirectory() as scratch:
        asked, answered = Path(scratch) / "work.json", Path(scratch) / "result.json"
        asked.write_text(json.dumps(work), "utf-8")
        command = ["node", "--expose-gc", str(SCRIPT), str(asked), str(answered)]
        subprocess.run(command, check=True, cwd=peer.ROOT)
        return Details(**json.loads(answered.read_text("utf-8")))
