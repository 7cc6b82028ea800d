"""What commands read: texts by line, JSON Lines, CSV, and folders of text files."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from tern_engine.errors import InvalidInputError

FORMATS = ("lines", "jsonl", "csv", "parquet")
_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}
# No line or cell of text is longer: a file without line ends is not read into memory whole.
MAX_LINE = 64 << 20
# Larger files in a folder are passed over.
MAX_FILE = 16 << 20

Item = TypeVar("Item")
Record = tuple[str, dict[str, Any]]  # where it stands, for messages; its members


def read_records(
    source: str, form: str | None, columns: Sequence[str] | None = None
) -> Iterator[Record]:
    """The records of a file, or of stdin for "-", one after the other.

    `form` is one of FORMATS; None goes by the file's name. A line is {"text": line}. Of Parquet
    only `columns` are read, by default all. Raises InvalidInputError for what is not of the
    format, OSError.
    """
    form = form or form_of(source)
    name = name_of(source)
    if form == "parquet":
        from .parquet_records import parquet_records

        yield from parquet_records(source, name, columns)
        return
    with _opened(source) as file:
        if form == "csv":
            yield from _csv_records(file, name)
            return
        for number, line in _lines(file, name):
            place = f"{name}, line {number}"
            text = line.removesuffix("\n").removesuffix("\r")
            if form == "lines":
                yield place, {"text": text}
            elif text.strip():
                yield place, _json_object(text, place)


def form_of(source: str) -> str:
    """The format that a file's name says it has."""
    return _SUFFIXES.get(Path(source).suffix.lower(), "lines")


def name_of(source: str) -> str:
    """What messages call a source."""
    return "standard input" if source == "-" else source


def member(record: Record, column: str) -> str:
    """The text in a record's column. Raises InvalidInputError where there is none."""
    place, members = record
    if column not in members:
        there = ", ".join(members) or "none"
        raise InvalidInputError(f"{place}: no column {column!r}; there are: {there}")
    value = members[column]
    if not isinstance(value, str):
        found = json.dumps(value)[:40]
        raise InvalidInputError(f"{place}: {column} is {found}, expected a string")
    return value


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in lists of `size`, the last of what is left."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


@dataclass
class PassedOver:
    """What of a folder is in no document: how many files are no text, what may not be read."""

    no_text: int = 0
    unreadable: list[str] = field(default_factory=list)


def read_folder(folder: Path, patterns: Sequence[str]) -> tuple[list[dict[str, Any]], PassedOver]:
    """A document for each text file below a folder, by path; and what was passed over.

    Not looked at: hidden files and folders, links to folders, files whose relative path and name
    match none of `patterns` (if there are any). Passed over: what is not UTF-8 text of up to
    MAX_FILE bytes, and what below the folder may not be read. Raises OSError.
    """
    if not folder.is_dir():
        raise NotADirectoryError(20, "no such folder", str(folder))
    documents = []
    passed = PassedOver()
    for path in _files(folder, passed.unreadable):
        name = path.relative_to(folder).as_posix()
        if patterns and not any(fnmatch(name, p) or fnmatch(path.name, p) for p in patterns):
            continue
        try:
            if not path.is_file():
                continue
            text = _text_of(path)
        except PermissionError:
            passed.unreadable.append(str(path))
            continue
        if text is None:
            passed.no_text += 1
        else:
            documents.append({"id": name, "text": text, "source": name})
    documents.sort(key=lambda document: document["id"])
    return documents, passed


@contextmanager
def _opened(source: str) -> Iterator[BinaryIO]:
    if source == "-":
        yield sys.stdin.buffer
        return
    with Path(source).open("rb") as file:
        yield file


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    """Lines with their ends, numbered from 1."""
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        place = f"{name}, line {number}"
        if len(line) > MAX_LINE:
            raise InvalidInputError(f"{place} is longer than {MAX_LINE:,} bytes")
        if b"\0" in line:
            raise InvalidInputError(f"{place} holds a zero byte: expected text, not a binary file")
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            raise InvalidInputError(
                f"{place} is not UTF-8 text: byte 0x{byte:02x} at {error.start}"
            ) from None


def _json_object(text: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{place} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError(f"{place} is not a JSON object")
    return value


def _csv_records(file: BinaryIO, name: str) -> Iterator[Record]:
    csv.field_size_limit(MAX_LINE)
    number = 0  # the reader's own count lags behind at an error

    def lines() -> Iterator[str]:
        nonlocal number
        for number, line in _lines(file, name):  # noqa: B007
            yield line

    try:
        for row in csv.DictReader(lines(), strict=True):
            place = f"{name}, line {number}"
            if None in row or None in row.values():
                raise InvalidInputError(f"{place} has more or fewer cells than the first line")
            yield place, row
    except csv.Error as error:
        raise InvalidInputError(f"{name}, line {number} is not CSV: {error}") from None


def _files(folder: Path, unreadable: list[str]) -> Iterator[Path]:
    """What is in a folder and in those below it; `unreadable` gets those that may not be read."""

    def failed(error: OSError) -> None:
        if not isinstance(error, PermissionError) or error.filename == str(folder):
            raise error
        unreadable.append(error.filename)

    for here, folders, files in os.walk(folder, onerror=failed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(here, name) for name in files if not name.startswith("."))


def _text_of(path: Path) -> str | None:
    if path.stat().st_size > MAX_FILE:
        return None
    data = path.read_bytes()
    try:
        return None if b"\0" in data else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
