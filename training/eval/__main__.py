"""Scores a model and keeps the result.

    python -m training.eval WHAT [--data DIR] [--corpus main] [--name NAME] [--keep]

WHAT is a `.bin` (in the shipped engine), torch:FILE.bin (in the training code, faster), `teacher`,
a checkpoint path or run:NAME; CHECKPOINT@FORMAT scores its table in another format.
--keep writes training/eval/results/NAME.json and renews RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

from training.distill.corpus import read_plan
from training.distill.paths import cache_dir, data_dir
from training.distill.textkeys import held_out_queries
from training.eval.encoders import open_encoder
from training.eval.report import RESULTS, write_report
from training.eval.sets import Encode, Scores, scifact, sts, teacher_agreement, trec


def score(encode: Encode, data: Path, corpus: Path, passages: bool) -> Scores:
    """Every measure of one encoder; `passages` adds the costly one."""
    unseen = [text for text, _ in read_plan(corpus / "held_out.txt.gz")]
    queries = held_out_queries(data / "corpus")
    scores: Scores = {}
    for name, texts, file in (
        ("2,000 texts", unseen, "held_out.npz"),
        ("1,000 web queries", queries, "queries.npz"),
    ):
        with np.load(corpus / file) as held:
            scores |= teacher_agreement(encode, texts, held["vectors"], name)
    scores |= sts(encode, data / "eval")
    scores |= trec(encode, data / "eval")
    scores |= scifact(encode, data / "eval", passages)
    return {name: round(value, 4) for name, value in scores.items()}


def _shown(argument: str) -> str:
    """An argument for the record: a path by its last part, since folders differ by machine."""
    return Path(argument).name if "/" in argument else argument


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what")
    parser.add_argument("--data")
    parser.add_argument("--corpus", default="main")
    parser.add_argument("--name")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--no-passages", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    encoder = open_encoder(given.what)
    began = time.monotonic()
    corpus = cache_dir() / "corpus" / given.corpus
    scores = score(encoder.encode, data_dir(given.data), corpus, not given.no_passages)
    result = {
        "model": encoder.name,
        "sha256": encoder.sha256,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "command": f"python -m training.eval {shlex.join(_shown(part) for part in sys.argv[1:])}",
        "seconds": round(time.monotonic() - began, 1),
        "scores": scores,
    }
    print(json.dumps(result, indent=1))
    looks = cache_dir() / "looks.jsonl"
    with looks.open("a") as out:
        out.write(json.dumps(result) + "\n")
    if given.keep:
        name = given.name or Path(encoder.name).stem
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        write_report()


if __name__ == "__main__":
    main()
