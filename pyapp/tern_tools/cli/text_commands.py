"""Commands on texts: tokenize, similarity, classify, info."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tern_engine.errors import InvalidInputError

import tern_tools

from . import options
from .inputs import batches, read_records
from .outputs import print_json

# Texts that are classified at a time.
_BATCH_SIZE = 64


@click.command()
@click.argument("texts", nargs=-1)
@options.model
@options.as_json
def tokenize(texts: tuple[str, ...], model: str | None, as_json: bool) -> None:
    """Token ids of each TEXT, or of each line of stdin."""
    engine = options.load_engine(model)
    for text in texts or _stdin_lines():
        ids = engine.tokenize(text)
        if as_json:
            print_json({"text": text, "ids": ids, "truncated": engine.token_count(text)[1]})
        else:
            print(*ids)


@click.command()
@click.argument("one")
@click.argument("other")
@options.model
@options.as_json
def similarity(one: str, other: str, model: str | None, as_json: bool) -> None:
    """The cosine of two texts, -1 to 1."""
    vectors = options.load_engine(model).embed_batch([one, other])
    score = tern_tools.similarity(*vectors)
    if as_json:
        print_json({"similarity": score})
    else:
        print(score)


@click.command(short_help="The label nearest to each text.")
@click.argument("texts", nargs=-1)
@click.option("--label", "labels", multiple=True, help="A label in words; repeatable.")
@click.option(
    "--examples", metavar="FILE", help='JSON: {"label": ["example", …], …} instead of --label.'
)
@click.option("--threshold", type=float, default=-1.0, help="Leave out labels that score less.")
@options.model
@options.as_json
def classify(
    texts: tuple[str, ...],
    labels: tuple[str, ...],
    examples: str | None,
    threshold: float,
    model: str | None,
    as_json: bool,
) -> None:
    """The label nearest in meaning to each TEXT, or to each line of stdin; --json gives all."""
    if bool(labels) == (examples is not None):
        raise click.UsageError("expected either --label or --examples")
    known = list(labels) if examples is None else _read_examples(examples)
    engine = options.load_engine(model)
    classifier = tern_tools.Classifier(engine, known)
    for batch in batches(texts or _stdin_lines(), _BATCH_SIZE):
        found = classifier.classify_batch(batch, threshold=threshold)
        for text, hits in zip(batch, found, strict=True):
            if as_json:
                print_json({"text": text, "labels": [hit._asdict() for hit in hits]})
            else:
                print(f"{hits[0].label}\t{hits[0].score:.4f}" if hits else "")


@click.command()
@options.model
@options.as_json
def info(model: str | None, as_json: bool) -> None:
    """What is installed: the build, its model, its fingerprint."""
    summary = json.loads(options.load_engine(model).config_summary())
    summary["tern_tools"] = tern_tools.__version__
    if as_json:
        print_json(summary)
        return
    for key, value in summary.items():
        print(f"{key:16} {value}")


def _stdin_lines() -> Iterator[str]:
    if sys.stdin.isatty():
        raise click.UsageError("expected a TEXT, or lines on standard input")
    return (members["text"] for _, members in read_records("-", "lines"))


def _read_examples(path: str) -> Any:
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path} is not JSON: {error}") from None
