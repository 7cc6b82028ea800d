"""Commands on indexes: index and search."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from tern_engine import Engine
from tern_engine.errors import IndexFormatError, IndexStaleError, InvalidInputError

from ..search import SearchIndex
from ..search_types import Result
from ..vectors import VectorKind
from . import options
from .inputs import PassedOver, Record, member, read_folder, read_records
from .outputs import Progress, note, open_output, print_json

# Where search keeps the index of a folder.
KEPT_INDEX = ".tern-engine.index"
SHOWN = 160

_MEMBERS = ("id", "title", "source")


@click.command(short_help="Write a search index for the browser.")
@click.argument("source")
@click.option("-o", "--output", required=True, metavar="FILE", help="The index file to write.")
@click.option("--passage-tokens", type=click.IntRange(3), help="Default: what the model reads.")
@options.vectors
@options.patterns
@options.form
@options.column
@options.model
@options.progress
@options.as_json
def index(
    source: str,
    output: str,
    passage_tokens: int | None,
    vectors: VectorKind | None,
    patterns: Sequence[str],
    form: str | None,
    column: str,
    model: str | None,
    progress: bool | None,
    as_json: bool,
) -> None:
    """Write the search index of SOURCE, which the browser's search.js loads.

    SOURCE is a folder of text files, or a file of documents: JSON Lines, CSV or Parquet with the
    members text and, as they are there, id, title, source (others become meta), or a text a line.
    """
    documents, passed = _documents(source, patterns, form, column)
    found = SearchIndex(
        options.load_engine(model), vectors=vectors or "float32", passage_tokens=passage_tokens
    )
    bar = Progress("index", progress)
    try:
        found.add(documents, on_progress=bar)
    finally:
        bar.end()
    data = found.save()
    with open_output(output) as file:
        file.write(data)
    _note(passed)
    counts = {"documents": len(found), "passages": found.passage_count, "bytes": len(data)}
    if as_json:
        print_json({**counts, "fingerprint": found.fingerprint})
    else:
        note(", ".join(f"{count:,} {what}" for what, count in counts.items()))


@click.command(short_help="Search a folder of text files.")
@click.argument("folder")
@click.argument("query")
@click.option("-k", type=click.IntRange(1), default=10, show_default=True, help="Results at most.")
@click.option("--index", "kept", metavar="FILE", help=f"Default: {KEPT_INDEX} in the folder.")
@options.vectors
@options.patterns
@options.model
@options.progress
@options.as_json
def search(
    folder: str,
    query: str,
    k: int,
    kept: str | None,
    vectors: VectorKind | None,
    patterns: Sequence[str],
    model: str | None,
    progress: bool | None,
    as_json: bool,
) -> None:
    """Files below FOLDER whose passages are nearest in meaning to QUERY, with their lines.

    The index is kept in a file; the next search embeds only what changed since.
    """
    documents, passed = read_folder(Path(folder), patterns)
    path = Path(kept) if kept else Path(folder, KEPT_INDEX)
    old = path.read_bytes() if path.exists() else None
    found = _load(options.load_engine(model), old, path, vectors, is_ours=kept is None)
    bar = Progress("index", progress)
    try:
        found.sync(documents, on_progress=bar)
    finally:
        bar.end()
    data = found.save()
    if data != old:
        _keep(path, data, required=kept is not None)
    _note(passed)
    results = found.query(query, k)
    for result in results:
        _show(folder, result, as_json)
    if not results:
        click.get_current_context().exit(1)


def _load(
    engine: Engine, data: bytes | None, path: Path, vectors: VectorKind | None, is_ours: bool
) -> SearchIndex:
    """The kept index where it is of use, else an empty one."""
    if data is not None:
        try:
            index = SearchIndex.load(engine, data)
            if vectors in (None, index.vectors):
                return index
        except IndexStaleError:
            note(f"{path} is of another model and is made anew")
        except IndexFormatError:
            if not is_ours:  # it may be another kind of file
                raise
            note(f"{path} is damaged and is made anew")
    return SearchIndex(engine, vectors=vectors or "float32")


def _keep(path: Path, data: bytes, required: bool) -> None:
    try:
        with open_output(str(path)) as file:
            file.write(data)
    except OSError as error:
        if required:
            raise
        note(f"the index could not be kept in {path}: {error.strerror}")


def _show(folder: str, result: Result, as_json: bool) -> None:
    document, passage = result.document, result.passage
    path = str(Path(folder, document.id))
    line = document.text.count("\n", 0, passage.start) + 1
    if as_json:
        print_json(
            {
                "path": path,
                "line": line,
                "score": result.score,
                "start": passage.start,
                "end": passage.end,
                "text": passage.text,
            }
        )
        return
    text = re.sub(r"\s+", " ", passage.text)
    shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
    print(f"{path}:{line}: {result.score:.3f} {shown}")


def _documents(
    source: str, patterns: Sequence[str], form: str | None, column: str
) -> tuple[list[dict[str, Any]], PassedOver]:
    """The documents of a folder or file, and what was passed over."""
    if Path(source).is_dir():
        return read_folder(Path(source), patterns)
    records = read_records(source, form)
    return [
        _document(record, column, number) for number, record in enumerate(records, 1)
    ], PassedOver()


def _note(passed: PassedOver) -> None:
    if passed.no_text:
        files = "a file that is" if passed.no_text == 1 else f"{passed.no_text:,} files that are"
        note(f"passed over {files} no UTF-8 text of up to 16 MiB")
    if passed.unreadable:
        others = len(passed.unreadable) - 1
        more = f" and {others:,} more" if others else ""
        note(f"passed over what may not be read: {min(passed.unreadable)}{more}")


def _document(record: Record, column: str, number: int) -> dict[str, Any]:
    place, members = record
    text = member(record, column)
    document: dict[str, Any] = {"id": str(number), "text": text}
    document |= {key: members[key] for key in _MEMBERS if members.get(key) not in (None, "")}
    others = (*_MEMBERS, column, "meta")
    meta = {key: value for key, value in members.items() if key not in others}
    given = members.get("meta")
    if given is not None and not (isinstance(given, dict) and not meta.keys() & given.keys()):
        raise InvalidInputError(f"{place}: meta is no object, or has a member that is a column too")
    if meta or given:
        document["meta"] = {**meta, **(given or {})}
    return document
