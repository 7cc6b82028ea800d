"""Scores a model and keeps the result.

    python -m training.eval WHAT [--data DIR] [--sets a,b] [--tables] [--name NAME] [--keep]

WHAT is a `.bin`, `teacher`, a checkpoint's path or run:NAME, all in the shipped engine but the
teacher; CHECKPOINT@FORMAT scores its table in another format, --tables in each; torch:WHAT takes
the training code's pass. --keep writes training/eval/results/NAME.json and renews RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import torch
from tern_engine.errors import TernError
from tern_engine.format import EMBEDDING_FORMATS

from training.distill.corpus import read_plan
from training.distill.paths import cache_dir, data_dir
from training.distill.textkeys import held_out_queries
from training.eval import card, looks
from training.eval.encoders import open_encoder
from training.eval.inputs import SETS, check_inputs, chosen_sets
from training.eval.report import FOLDER, write_report
from training.eval.sets import Encode, Scores, scifact, sts, teacher_agreement, trec
from training.eval.teacher_cache import CachedTeacher
from training.pack.engine_process import EngineRefused

ROOT = Path(__file__).resolve().parents[2]


def score(
    encode: Encode, teacher: Encode, data: Path, corpus: Path, sets: Collection[str]
) -> Scores:
    """The measures of the chosen sets, rounded to four places."""
    scores: Scores = {}
    if "texts" in sets:
        texts = [text for text, _ in read_plan(corpus / "held_out.txt.gz")]
        scores |= teacher_agreement(encode, texts, teacher(texts), "2,000 texts")
    if "queries" in sets:
        queries = held_out_queries(data / "corpus")
        scores |= teacher_agreement(encode, queries, teacher(queries), "1,000 web queries")
    if "sts" in sets:
        scores |= sts(encode, data / "eval")
    if "trec" in sets:
        scores |= trec(encode, data / "eval")
    if "scifact" in sets or "passages" in sets:
        scores |= scifact(encode, data / "eval", "scifact" in sets, "passages" in sets)
    return {name: round(value, 4) for name, value in scores.items()}


def shown(argument: str) -> str:
    """An argument for the record: paths from the repository's root or by their last part."""
    what, colon, path = argument.rpartition(":")
    if "/" not in path:
        return argument
    full = Path(path).resolve()
    short = str(full.relative_to(ROOT)) if full.is_relative_to(ROOT) else full.name
    return f"{what}{colon}{short}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m training.eval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what")
    parser.add_argument("--data", help="folder with corpus/ and eval/; or TERN_TRAINING_DATA")
    parser.add_argument("--corpus", default="main", help="plan whose held-out texts are scored")
    parser.add_argument("--sets", default=",".join(SETS), help=f"some of {','.join(SETS)}")
    parser.add_argument("--tables", action="store_true", help="a checkpoint in every table format")
    parser.add_argument("--name", help="name of the kept result")
    parser.add_argument("--note", help="a sentence for the kept result")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--results", type=Path, default=FOLDER, help="where --keep writes")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


def _scored(given: argparse.Namespace, what: str, sets: Collection[str]) -> dict[str, Any]:
    cache, data = cache_dir(), data_dir(given.data, needs="eval")
    corpus = cache / "corpus" / given.corpus
    check_inputs(data, corpus, sets)
    began = time.monotonic()
    with open_encoder(what, cache / "eval", given.workers) as encoder:
        teacher = CachedTeacher(cache / "eval")
        scores = score(encoder.encode, teacher.encode, data, corpus, sets)
    result = {
        "model": encoder.name,
        "sha256": encoder.sha256,
        "host": encoder.host,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "seconds": round(time.monotonic() - began, 1),
        "scores": scores,
    }
    looks.note(result, cache)
    return result


def _tables(given: argparse.Namespace, sets: Collection[str]) -> dict[str, Any]:
    """One checkpoint in every table format: what each quantization costs."""
    if given.what == "teacher" or given.what.endswith(".bin"):
        raise SystemExit("--tables needs a checkpoint, whose table is float: a path or run:NAME")
    found = {table: _scored(given, f"{given.what}@{table}", sets) for table in EMBEDDING_FORMATS}
    return {
        "model": shown(given.what),
        "date": found["fp32"]["date"],
        "tables": {table: result["scores"] for table, result in found.items()},
    }


def main() -> None:
    """Command line."""
    given = _options()
    torch.set_num_threads(given.workers)
    sets = chosen_sets(given.sets)
    try:
        result = _tables(given, sets) if given.tables else _scored(given, given.what, sets)
    except (TernError, EngineRefused, OSError) as error:
        raise SystemExit(str(error)) from error
    command = shlex.join(shown(part) for part in sys.argv[1:])
    result["command"] = f"python -m training.eval {command}"
    if given.note:
        result["note"] = given.note
    print(json.dumps(result, indent=1))
    if given.keep:
        keep(result, given.name or Path(given.what).stem, given.results)


def keep(result: dict[str, Any], name: str, folder: Path) -> None:
    """Write results/NAME.json, renew RESULTS.md and carry over the looks, all in `folder`.

    In the repository's own folder the model card, which is made of them, is renewed too.
    """
    (folder / "results").mkdir(parents=True, exist_ok=True)
    path = folder / "results" / f"{name}.json"
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    write_report(folder)
    looks.carry_over(cache_dir(), folder / looks.NAME)
    if folder == FOLDER:
        card.write()


if __name__ == "__main__":
    main()
