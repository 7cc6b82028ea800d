"""What a checkpoint learned from, for the sidecar of the model that is made of it.

Nothing here is written by hand: runs and their settings come from the checkpoints, sources and
counts from the plan's report, and the chunks that were trained on are compared with the plan.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from training.distill.checkpoint import load_checkpoint
from training.distill.corpus import CHUNK_TEXTS, read_plan
from training.distill.data import Chunk
from training.distill.paths import cache_dir
from training.distill.sources import SOURCES, TEACHER
from training.distill.teacher import teacher_tokenizer
from training.distill.textkeys import forbidden_keys, is_forbidden, key

Entry = dict[str, Any]

METHOD = (
    "distillation: 1 - cosine to the teacher's sentence vectors; the table and the layers' weights "
    "are quantized in every forward pass"
)


def entry(state: dict[str, Any]) -> Entry:
    """One run as far as `state` goes: config, texts, tokens, CPU seconds, names of its chunks."""
    return {
        "config": state["config"],
        "texts": state["texts"],
        "tokens": state["tokens"],
        "spent": state["spent"],
        "chunks": sorted(state["data"]["seen"]),
    }


def history(state: dict[str, Any]) -> list[Entry]:
    """The runs before `state`'s own, the first one first.

    Checkpoints carry them; for older ones they are read from the runs that their configs name. Such
    a run may have gone on after the branch: the optimiser's steps say where the branch was, and
    tokens and CPU time are taken in proportion.
    """
    if "history" in state:
        held: list[Entry] = state["history"]
        return held
    config = state["config"]
    if config["start"] == "static":
        return []
    parent = load_checkpoint(config["start"])
    found = entry(parent)
    if config["keep_state"] and parent["texts"]:
        own = state["texts"] // config["batch_texts"]
        later = parent["dense"]["steps"] - (state["dense"]["steps"] - own)
        share = 1 - later * found["config"]["batch_texts"] / parent["texts"]
        for name in ("texts", "tokens", "spent"):
            found[name] = round(found[name] * share)
    return [*history(parent), found]


def before(origin: dict[str, Any] | None) -> list[Entry]:
    """The runs before a fresh one that starts from `origin`."""
    return [*history(origin), entry(origin)] if origin else []


def _run(run: Entry) -> dict[str, Any]:
    config = dict(run["config"])
    start = str(config["start"])
    config["start"] = Path(start).name  # another machine has other folders
    return {
        "name": config.pop("name"),
        "texts": run["texts"],
        "tokens": run["tokens"],
        "cpu_minutes": round(run["spent"] / 60, 1),
        "config": config,
    }


def _check_chunks(folder: Path, names: list[str], rows: list[tuple[str, str]]) -> int:
    """Texts of the chunks, after comparing their ids with the plan's. SystemExit where they differ.

    A chunk that is not there any more cannot be compared, which is refused too.
    """
    tokenizer = teacher_tokenizer()
    texts = 0
    for name in names:
        path = folder / name
        if not path.exists():
            raise SystemExit(f"{path} is missing: the record compares every chunk with the plan")
        first = int(name.removeprefix("chunk_").removesuffix(".npz")) * CHUNK_TEXTS
        planned = [text for text, _ in rows[first : first + CHUNK_TEXTS]]
        ids = [e.ids for e in tokenizer.encode_batch(planned)]
        chunk = Chunk.read(path)
        same = [len(row) for row in ids] == chunk.lengths.tolist()
        if not same or not np.array_equal(np.concatenate(ids), chunk.ids):
            raise SystemExit(f"{path} holds other texts than the plan")
        texts += len(ids)
    return texts


def _plan(name: str, chunks: list[str], data: Path | None) -> dict[str, Any]:
    """A plan and its sources, with the proofs that can be had from the files."""
    folder = cache_dir() / "corpus" / name
    path = folder / "plan.txt.gz"
    if not path.exists():
        raise SystemExit(f"no {path}: the record of a model states its sources from it")
    rows = read_plan(path)
    report = json.loads((folder / "report.json").read_text("utf-8"))
    names = {source.name for source in SOURCES}
    strange = {origin for _, origin in rows if origin.rpartition(":")[2] not in names}
    if strange:
        raise SystemExit(f"{path} has texts of {sorted(strange)}, which sources.py does not list")
    held_out = {key(text) for text, _ in read_plan(folder / "held_out.txt.gz")}
    if any(key(text) in held_out for text, _ in rows):
        raise SystemExit(f"{path} has a held-out text")
    found: dict[str, Any] = {
        "name": name,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "texts": len(rows),
        "held_out": len(held_out),
        "chunks": len(chunks),
        "texts_in_chunks": _check_chunks(folder, chunks, rows),
    }
    found |= {name: report[name] for name in ("after", "adds") if name in report}
    if data:
        forbidden = forbidden_keys(data)
        found["evaluation_texts"] = sum(is_forbidden(text, forbidden) for text, _ in rows)
        if found["evaluation_texts"]:
            raise SystemExit(f"{path} has {found['evaluation_texts']} evaluation texts")
    sources = []
    for source in SOURCES:
        counts = report.get(source.name, {"missing": True})
        if "missing" in counts:
            continue
        made = {
            origin.partition(":")[0]: count
            for origin, count in report["in_plan"].items()
            if origin.endswith(f":{source.name}")
        }
        sources.append({"name": source.name, **counts, "made": made})
    return found | {"sources": sources}


def record(state: dict[str, Any], data: Path | None = None) -> dict[str, Any]:
    """The record of a checkpoint, as JSON types; with `data` the plan is held against every
    evaluation text too. SystemExit where a proof fails or a file for it is missing."""
    runs = before(state)
    chunks: dict[str, set[str]] = {}
    for run in runs:
        chunks.setdefault(run["config"]["corpus"], set()).update(run["chunks"])
    plans: dict[str, dict[str, Any]] = {}
    for name, seen in chunks.items():
        plan = _plan(name, sorted(seen), data)
        first = plan.get("after")
        if first and first not in chunks:  # its counts say where the texts come from
            plans[first] = _plan(first, [], data)
        plans[name] = plan
    used = {source["name"] for plan in plans.values() for source in plan["sources"]}
    return {
        "sources_cleared": True,
        "method": METHOD,
        "teacher": TEACHER,
        "texts_seen": sum(run["texts"] for run in runs),
        "cpu_minutes": round(sum(run["spent"] for run in runs) / 60, 1),
        "sources": [
            {"name": source.name, "licence": source.licence}
            for source in SOURCES
            if source.name in used
        ],
        "plans": list(plans.values()),
        "runs": [_run(run) for run in runs],
    }
