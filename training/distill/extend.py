"""Appends made texts to a plan.

    python -m training.distill.extend --data DIR [--after main] [--name wide] [--adds statements]

Writes <cache>/corpus/<name>/ as corpus does: the older plan's texts first, then the made ones.
"statements" are scenes, spliced and edited sentences and headlines (sentences.py), "replies" what
people answer in forums (replies.py). Chunks that the older plan has encoded are taken over, so only
the new texts remain for encode.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from training.distill.corpus import CHUNK_TEXTS, SEED, Plan, clean, read_plan, save
from training.distill.paths import cache_dir, data_dir
from training.distill.replies import Replies, actions
from training.distill.sentences import Neighbours, is_statement, scenes
from training.distill.sources import REPLIES, SENTENCES, SOURCES
from training.distill.textkeys import forbidden_keys, is_forbidden, key, read_lines

TRIES = 3  # a source that cannot give enough fresh sentences gives fewer


def _lines(
    data: Path, wanted: dict[str, int], forbidden: set[str]
) -> Iterator[tuple[str, list[str]]]:
    """Each wanted source that is there, and its lines but for evaluation texts."""
    for source in SOURCES:
        path = data / "corpus" / f"{source.name}.txt.gz"
        if wanted.get(source.name) and path.exists():
            lines = (clean(line) for line in read_lines(path))
            yield source.name, [line for line in lines if not is_forbidden(line, forbidden)]


def _statements(data: Path, scale: float, forbidden: set[str]) -> Iterator[tuple[str, str]]:
    rng = random.Random(SEED + 1)
    for text in scenes(round(SENTENCES["scenes"] * scale), rng):
        yield text, "scene:scenes"
    for name, lines in _lines(data, SENTENCES, forbidden):
        statements = [line for line in lines if is_statement(line)]
        if not statements:
            continue
        held = Neighbours(statements)
        makers = {"spliced": held.spliced, "edited": held.edited, "headline": held.headline}
        for kind, share in (("spliced", 0.45), ("edited", 0.35), ("headline", 0.2)):
            left = round(SENTENCES[name] * share * scale)
            for _ in range(left * TRIES):
                made = makers[kind](rng)
                if made and left:
                    left -= 1
                    yield clean(made), f"{kind}:{name}"


def _replies(data: Path, scale: float, forbidden: set[str]) -> Iterator[tuple[str, str]]:
    """Every third is followed by a version of itself in other words."""
    rng = random.Random(SEED + 3)
    for name, lines in _lines(data, REPLIES, forbidden):
        if not actions(lines):
            continue
        held = Replies(lines)
        for _ in range(round(REPLIES[name] * scale / 1.33)):
            for text in held.pair(rng) if rng.random() < 0.33 else [held.reply(rng)]:
                yield clean(text), f"reply:{name}"


ADDS: dict[str, Callable[[Path, float, set[str]], Iterator[tuple[str, str]]]] = {
    "statements": _statements,
    "replies": _replies,
}


def extend(data: Path, older: Path, scale: float = 1.0, adds: str = "statements") -> Plan:
    """The plan in folder `older` with made texts after its own, none of them twice."""
    forbidden = forbidden_keys(data)
    plan = Plan(
        read_plan(older / "plan.txt.gz"),
        read_plan(older / "held_out.txt.gz"),
        json.loads((older / "report.json").read_text("utf-8")),
    )
    seen = {key(text) for text, _ in plan.texts + plan.held_out}
    fresh = []
    for text, origin in ADDS[adds](data, scale, forbidden):
        name = key(text)
        if name and name not in seen and not is_forbidden(text, forbidden):
            seen.add(name)
            fresh.append((text, origin))
    random.Random(SEED + 2).shuffle(fresh)
    plan.texts += fresh
    licence = next(source.licence for source in SOURCES if source.name == "scenes")
    plan.report["adds"] = adds
    plan.report["scenes"] = {"licence": licence, "lines": 0, "taken": 0}
    plan.report["in_plan"] = dict(Counter(origin for _, origin in plan.texts))
    plan.report["total"] = len(plan.texts)
    plan.report["after"] = older.name
    return plan


def take_over(older: Path, folder: Path) -> int:
    """Link what `older` has encoded into `folder`, but for its last, partly filled chunk."""
    whole = len(read_plan(older / "plan.txt.gz")) // CHUNK_TEXTS
    names = [f"chunk_{number:04d}.npz" for number in range(whole)]
    others = ("held_out.npz", "queries.npz", "tokens.npz")
    found = [name for name in (*names, *others) if (older / name).exists()]
    for name in found:
        if not (folder / name).exists():
            os.link(older / name, folder / name)
    return sum(name in names for name in found)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data")
    parser.add_argument("--after", default="main")
    parser.add_argument("--name", default="wide")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--adds", default="statements", choices=list(ADDS))
    given = parser.parse_args()
    corpus = cache_dir() / "corpus"
    if given.name == given.after:
        raise SystemExit("--name must differ from --after: runs keep the plan they were made with")
    plan = extend(data_dir(given.data), corpus / given.after, given.scale, given.adds)
    save(plan, corpus / given.name)
    chunks = take_over(corpus / given.after, corpus / given.name)
    print(json.dumps(plan.report["in_plan"], indent=1))
    print(f"{plan.report['total']:,} texts; {chunks} chunks taken over")


if __name__ == "__main__":
    main()
