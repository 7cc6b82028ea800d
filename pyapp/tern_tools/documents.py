"""Documents: what a caller gave, checked and copied; and their records in the index file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tern_engine.errors import TernError

from ._check import check, check_string
from .canonical_json import canonical_json, parse_json, whole


@dataclass(frozen=True, slots=True)
class Document:
    """A document in an index; what is None is not there.

    source says where it comes from: a file name, a URL. meta is anything else, as JSON; it is not
    to be changed.
    """

    id: str
    text: str
    title: str | None = None
    source: str | None = None
    meta: dict[str, Any] | None = None


_MEMBERS = ("id", "text", "title", "source", "meta")


def read_document(value: Any, name: str = "document") -> Document:
    """A copy of a Document or of a mapping with its members. Raises InvalidInputError."""
    if isinstance(value, Document):
        value = {key: getattr(value, key) for key in _MEMBERS}
    check(
        isinstance(value, Mapping),
        f"{name} must be a dict with id and text, found {type(value).__name__}",
    )
    for key in value:
        check(
            key in _MEMBERS,
            f"{name} has a member {key}; what is not id, text, title or source goes into meta",
        )
    check_string(value.get("id"), f"{name}.id")
    check(value["id"] != "", f"{name}.id must not be empty")
    check_string(value.get("text"), f"{name}.text")
    for key in ("title", "source"):
        if value.get(key) is not None:
            check_string(value[key], f"{name}.{key}")
    meta = value.get("meta")
    if meta is not None:
        found = type(meta).__name__
        check(isinstance(meta, Mapping), f"{name}.meta must be a dict, found {found}")
        meta = parse_json(canonical_json(meta, f"{name}.meta"))
    strings = {key: value.get(key) for key in _MEMBERS[:-1]}
    copies = {key: text if text is None else whole(text) for key, text in strings.items()}
    return Document(**copies, meta=meta)  # type: ignore[arg-type]


def read_documents(values: Any) -> list[Document]:
    """Copies of one document or several. Raises InvalidInputError, for two of one id, too."""
    if isinstance(values, (Document, Mapping)):
        values = [values]
    check(
        isinstance(values, Iterable) and not isinstance(values, (str, bytes)),
        f"documents must be an iterable of documents, found {type(values).__name__}",
    )
    ids = set()
    documents = []
    for i, value in enumerate(values):
        document = read_document(value, f"documents[{i}]")
        check(document.id not in ids, f"two documents have the id {document.id}")
        ids.add(document.id)
        documents.append(document)
    return documents


def document_record(document: Document) -> bytes:
    """A document's record in the index file."""
    members = {key: getattr(document, key) for key in _MEMBERS}
    there = {key: value for key, value in members.items() if value is not None}
    return canonical_json(there, "document", 0).encode()


def parse_record(record: bytes) -> Document | None:
    """The document of a record; None for anything but the canonical text of one.

    Raises UnicodeDecodeError for what is not UTF-8.
    """
    text = record.decode()
    try:
        document = read_document(parse_json(text))
        return document if document_record(document) == record else None
    except (TernError, ValueError, RecursionError):
        return None
