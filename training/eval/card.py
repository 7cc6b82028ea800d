"""Writes assets/MODEL_CARD.md from the sidecars, the kept results and the template; needs no torch.

    python -m training.eval.card [--check]

--check writes nothing and exits with 1 where the committed card is another.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from string import Template
from typing import Any

from training.eval import looks
from training.eval.report import kept_results, table

ROOT = Path(__file__).resolve().parents[2]
CARD = ROOT / "assets" / "MODEL_CARD.md"
TEMPLATE = Path(__file__).with_name("card_template.txt")
PUBLISHED = Path(__file__).with_name("published.json")
TEACHER = "teacher"
KEPT_OUT = (
    "The sets that it is scored on were kept out of training, sentence by sentence and whatever "
    "their case and punctuation."
)

Record = dict[str, Any]


def sidecars(assets: Path) -> dict[str, Record]:
    """The sidecars of the models in a folder, by the model's file name."""
    found = {}
    for path in sorted(assets.glob("model-*.bin")):
        found[path.name] = json.loads(path.with_suffix(".json").read_text("utf-8"))
    return found


def _grid(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _models(records: dict[str, Record]) -> str:
    rows = []
    for name, record in records.items():
        shape = record["header"]
        form = (
            f"d {shape['d_model']}, {shape['n_layers']} layers, {shape['n_heads']} heads, "
            f"ffn {shape['ffn_dim']}, {shape['embedding_format']} table"
        )
        rows.append([f"`{name}`", f"{record['bytes']:,}", form, f"`{record['sha256']}`"])
    return _grid(["file", "bytes", "shape", "SHA-256"], rows)


def _made(source: Record, known: Record | None = None) -> str:
    kinds = {k: n for k, n in source["made"].items() if k not in (known or {})}
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds.items())


def _sources(plan: Record, older: Record | None) -> str:
    """A plan's sources; of a plan that goes on from an older one, what it adds."""
    rows = []
    if older:
        known = {source["name"]: source["made"] for source in older["sources"]}
        for source in plan["sources"]:
            if made := _made(source, known.get(source["name"])):
                rows.append([source["name"], source["licence"], made])
        return _grid(["source", "licence", f"made of it for plan `{plan['name']}`"], rows)
    for source in plan["sources"]:
        dropped = f"{source['dropped_evaluation']:,}"
        cells = [f"{source['lines']:,}", dropped, f"{source['taken']:,}", _made(source) or "–"]
        rows.append([source["name"], source["licence"], *cells])
    head = ["source", "licence", "lines", "dropped: evaluation", "taken", "made of it"]
    return _grid(head, rows)


def _data(training: Record) -> str:
    """Sources with their licences; counts and proofs where a command recorded them."""
    if not training.get("sources_cleared"):
        rows = [[s["name"], s["texts"], s["licence"]] for s in training["sources"]]
        return _grid(["source", "texts", "licence"], rows)
    parts = []
    plans = {plan["name"]: plan for plan in training["plans"]}
    for plan in training["plans"]:
        older = plans.get(plan.get("after"))
        parts.append(_sources(plan, older))
        proof = (
            f"Plan `{plan['name']}`, SHA-256 `{plan['sha256']}`: {plan['texts']:,} texts, and "
            f"{plan['held_out']:,} held out"
        )
        if plan["chunks"]:
            proof += (
                f". The token ids of all {plan['texts_in_chunks']:,} texts in the chunks that were "
                "trained on were compared with it"
            )
        if plan.get("evaluation_texts") == 0:
            proof += ", and none of its texts is an evaluation text"
        if not plan["chunks"]:
            proof += "; a later plan goes on from it"
        parts.append(proof + ".")
    parts.append(KEPT_OUT)
    return "\n\n".join(parts)


def _recipe(training: Record) -> str:
    teacher = training.get("teacher")
    if not training.get("sources_cleared"):
        return f"{training['method']}. {training['texts']}. {training['cost']}."
    rows = []
    for run in training["runs"]:
        config = run["config"]
        shape, rates = config["shape"], config["rates"]
        ends = "to zero" if config["decay_texts"] else "constant"
        matrices = "kept" if config.get("settled") else f"{rates['matrices']:g}"
        rows.append(
            [
                run["name"],
                config["start"],
                f"{shape['n_layers']}",
                f"{run['texts']:,}",
                f"{run['cpu_minutes']}",
                f"{matrices}, {rates['table']:g}, {rates['rest']:g}; {ends}",
            ]
        )
    head = ["run", "starts from", "layers", "texts", "CPU minutes", "rates: matrices, table, rest"]
    taught = (
        f"Teacher: {teacher['model']} ({teacher['licence']}), {teacher['package']}. "
        if teacher
        else ""
    )
    total = f"{training['texts_seen']:,} texts in {training['cpu_minutes']} CPU minutes."
    return f"{taught}{training['method'].capitalize()}. {total}\n\n{_grid(head, rows)}"


def _published(record: Record) -> dict[str, float]:
    shape = record["header"]
    for model in json.loads(PUBLISHED.read_text("utf-8"))["models"]:
        same = model["d_model"] == shape["d_model"] and model["n_layers"] == shape["n_layers"]
        if same and model["table"] == shape["embedding_format"]:
            scores: dict[str, float] = model["scores"]
            return scores
    return {}


def _scores(records: dict[str, Record], results: dict[str, Record]) -> str:
    """Each model's scores, by the SHA-256 of its file, beside the published ones and the teacher's.

    SystemExit for a model that was never scored.
    """
    columns: dict[str, dict[str, float]] = {}
    notes = []
    for name, record in records.items():
        found = [r for r in results.values() if r.get("sha256") == record["sha256"]]
        if not found:
            raise SystemExit(
                f"no kept result of {name}: python -m training.eval assets/{name} --keep"
            )
        columns[name] = found[-1]["scores"]
        if published := _published(record):
            columns[f"published, as {name}"] = published
        notes += [f"{name}: {found[-1]['note']}"] if "note" in found[-1] else []
    if TEACHER in results:
        columns[TEACHER] = results[TEACHER]["scores"]
    return "\n\n".join(["\n".join(table(columns)), *notes])


def _reproduce(records: dict[str, Record]) -> tuple[str, str]:
    """Commands that make the models, and those that score them, indented."""
    lines = [
        "python -m training.distill.corpus --data DIR",
        "python -m training.distill.encode --data DIR",
    ]
    done = set()
    plans = [plan for record in records.values() for plan in record["training"].get("plans", [])]
    for plan in {plan["name"]: plan for plan in plans if "after" in plan}.values():
        adds = f" --adds {plan['adds']}" if "adds" in plan else ""
        lines += [
            f"python -m training.distill.extend --data DIR --after {plan['after']} "
            f"--name {plan['name']}{adds}",
            f"python -m training.distill.encode --data DIR --name {plan['name']}",
        ]
    for name, record in records.items():
        training = record["training"]
        if not training.get("sources_cleared"):
            lines = [
                "# model-int4.bin came from an earlier script: this recipe, other settings",
                *lines,
            ]
            runs = [{"name": run} for run in ("base", "int4-d256", "int4-d256-decay")]
        else:
            runs = training["runs"]
        for run in runs:
            if run["name"] not in done:
                done.add(run["name"])
                lines.append(
                    f"python -m training.distill.train training/distill/configs/{run['name']}.toml"
                )
        last, tensors = runs[-1]["name"], f"{Path(name).stem}.safetensors"
        table = record["header"]["embedding_format"]
        mean = " --mean" if "weights" in training else ""
        lines += [
            f"python -m training.distill.export run:{last} {tensors} --data DIR{mean}",
            f"python -m training.pack pack {tensors} {name} --embedding {table}",
        ]
    scoring = [f"python -m training.eval assets/{name} --data DIR" for name in records]
    indented = ["\n".join(f"    {line}" for line in group) for group in (lines, scoring)]
    return indented[0], indented[1]


def card(assets: Path = CARD.parent) -> str:
    """The card's text. SystemExit for a model without a kept result."""
    records = sidecars(assets)
    reproduce, score = _reproduce(records)
    seen = [[family, str(count), str(models)] for family, (count, models) in looks.counts().items()]
    datas = {name: _data(record["training"]) for name, record in records.items()}
    recipes = {name: _recipe(record["training"]) for name, record in records.items()}
    notes = [note for record in records.values() for note in record.get("notes", [])]
    return Template(TEMPLATE.read_text("utf-8")).substitute(
        models="\n\n".join([_models(records), *notes]),
        data=_by_model(datas),
        recipe=_by_model(recipes),
        scores=_scores(records, kept_results()),
        looks=_grid(["set", "looks", "models"], seen),
        reproduce=reproduce,
        score=score,
    )


def _by_model(parts: dict[str, str]) -> str:
    """What all models have in common, paragraph by paragraph, then the rest below their names."""
    split = {name: text.split("\n\n") for name, text in parts.items()}
    texts = list(split.values())
    common = [part for part in texts[0] if all(part in text for text in texts)]
    names: dict[str, list[str]] = {}
    for name, text in split.items():
        rest = "\n\n".join(part for part in text if part not in common)
        if rest:
            names.setdefault(rest, []).append(f"`{name}`")
    return "\n\n".join([*common, *(f"{', '.join(who)}:\n\n{rest}" for rest, who in names.items())])


def write() -> None:
    """Renew the committed card."""
    CARD.write_text(card(), "utf-8")


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if given.check:
        return int(not CARD.exists() or CARD.read_text("utf-8") != card())
    write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
