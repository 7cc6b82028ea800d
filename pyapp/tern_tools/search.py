"""An index over documents that finds by meaning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import DimensionError, InvalidInputError

from ._check import check, check_callable, check_engine, listed
from .documents import Document, read_documents
from .index_file import (
    MAX_DIM,
    MAX_PASSAGE_TOKENS,
    MIN_PASSAGE_TOKENS,
    IndexContent,
    read_index,
    write_index,
)
from .passages import cut_passages
from .search_types import Changes, Passage, Result, SearchEngine
from .sentences import Range
from .vectors import Table, VectorKind, join_tables, lengths, make_table, unit_query

# How far a vector's length may be from 1.
_LENGTH_TOLERANCE = 0.001

Progress = Callable[[int, int], None]


@dataclass
class _Entry:
    document: Document
    ranges: list[Range]
    table: Table


class SearchIndex:
    """Documents, cut into passages, and a vector for each passage.

    Saved to the same bytes and ranked with the same scores as by web/search.js, by meaning only:
    its keyword half is not here. Not to be changed by several threads at once.
    """

    def __init__(
        self,
        engine: SearchEngine,
        *,
        vectors: VectorKind = "float32",
        passage_tokens: int | None = None,
    ) -> None:
        """An empty index. "int8" vectors take a quarter of the memory; `passage_tokens` is the
        longest passage, by default what the model reads. Raises InvalidInputError."""
        check_engine(engine, SearchEngine)
        limit = engine.max_seq_len if passage_tokens is None else passage_tokens
        check(vectors in ("float32", "int8"), f'vectors must be "float32" or "int8", not {vectors}')
        check(
            type(limit) is int and MIN_PASSAGE_TOKENS <= limit <= MAX_PASSAGE_TOKENS,
            f"passage_tokens must be an int of {MIN_PASSAGE_TOKENS} or more, found {limit!r}",
        )
        check(1 <= engine.dim <= MAX_DIM, f"engine.dim must be 1 to {MAX_DIM}, found {engine.dim}")
        check(
            re.fullmatch("[0-9a-f]{64}", engine.fingerprint),
            f"engine.fingerprint must be a SHA-256 in lowercase hex, found {engine.fingerprint}",
        )
        self._engine = engine
        self.vectors: VectorKind = vectors
        self.passage_tokens = limit
        self._entries: dict[str, _Entry] = {}
        self._table: Table | None = None

    @classmethod
    def load(cls, engine: SearchEngine, file: Any) -> SearchIndex:
        """The index in a bytes-like, as save() or the browser wrote it.

        Raises IndexFormatError, IndexStaleError for one of another model, InvalidInputError.
        """
        check_engine(engine, SearchEngine)
        content = read_index(file, engine.fingerprint, engine.dim)
        index = cls(engine, vectors=content.table.kind, passage_tokens=content.passage_tokens)
        index._fill(content.documents, content.ranges, content.table)
        return index

    def save(self) -> bytes:
        """The index as one file: docs/index-format.md."""
        table = self._joined()
        entries = self._entries.values()
        documents, ranges = [e.document for e in entries], [e.ranges for e in entries]
        return write_index(
            IndexContent(self.fingerprint, self.passage_tokens, documents, ranges, table)
        )

    def __len__(self) -> int:
        """How many documents are in the index."""
        return len(self._entries)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and id in self._entries

    def get(self, id: str) -> Document | None:
        return self._entries[id].document if id in self else None

    def documents(self) -> Iterator[Document]:
        """All documents, in the index's order."""
        return (entry.document for entry in self._entries.values())

    @property
    def fingerprint(self) -> str:
        """The model that the vectors are of."""
        return self._engine.fingerprint

    @property
    def passage_count(self) -> int:
        """How many passages the documents have."""
        return sum(len(entry.ranges) for entry in self._entries.values())

    def add(
        self, documents: Any, *, on_progress: Progress | None = None, batch_size: int = 64
    ) -> None:
        """Add documents (Document or dict, one or many) with ids that the index does not hold.

        on_progress gets the number of documents done and of all. Raises InvalidInputError before
        anything is added; after an error of the engine those that were complete are in the index.
        """
        copies = read_documents(documents)
        for document in copies:
            check(
                document.id not in self._entries,
                f"the index holds a document with the id {document.id} already",
            )
        self._put(copies, on_progress, batch_size)

    def replace(
        self, documents: Any, *, on_progress: Progress | None = None, batch_size: int = 64
    ) -> None:
        """As add(), each in the place of the one with its id if there is one."""
        self._put(read_documents(documents), on_progress, batch_size)

    def sync(
        self, documents: Any, *, on_progress: Progress | None = None, batch_size: int = 64
    ) -> Changes:
        """Make the index hold these documents and no others, in this order.

        Only those that are new or have another text are embedded, so the file is the same as that
        of an index made afresh.
        """
        copies = read_documents(documents)
        old = dict(self._entries)
        wanted = {document.id for document in copies}
        texts = {id: entry.document.text for id, entry in old.items()}
        new = [document for document in copies if texts.get(document.id) != document.text]
        self._put(new, on_progress, batch_size)
        fresh = self._entries
        for document in copies:
            fresh[document.id].document = document
        self._entries = {document.id: fresh[document.id] for document in copies}
        self._table = None
        changed = sum(document.id in old for document in new)
        return Changes(len(new) - changed, changed, sum(id not in wanted for id in old))

    def remove(self, ids: str | Iterable[str]) -> int:
        """Remove documents and say how many there were; ids not in the index are ignored.

        Raises InvalidInputError.
        """
        wanted = [ids] if isinstance(ids, str) else listed(ids, "ids", "a str or several")
        found = {id for id in wanted if id in self}
        for id in found:
            del self._entries[id]
        self._table = None
        return len(found)

    def clear(self) -> None:
        """Remove all documents."""
        self._entries.clear()
        self._table = None

    def query(
        self,
        query: Any,
        k: int = 10,
        *,
        mode: str = "meaning",
        filter: Callable[[Document], bool] | None = None,
    ) -> list[Result]:
        """The at most `k` documents that fit a text or a vector best, best first.

        Equal scores rank in the index's order. "meaning" is the only mode: "keyword" and "hybrid",
        which the browser's index has, are refused. Raises InvalidInputError, DimensionError.
        """
        if mode != "meaning":
            check(mode in ("keyword", "hybrid"), f'mode must be "meaning", found {mode!r}')
            raise InvalidInputError(
                f'mode is "{mode}", expected "meaning": the browser ranks keywords by MiniSearch, '
                "and no Python library ranks as it does"
            )
        check_callable(filter, "filter")
        check(type(k) is int and k > 0, f"k must be an int of 1 or more, found {k!r}")
        if isinstance(query, str):
            vector = self._checked([self._engine.embed(query)], 1)[0]
        else:
            vector = unit_query(query, self._engine.dim)
        scores = self._joined().scores(vector)
        entries = [entry for entry in self._entries.values() if entry.ranges]
        if not entries:
            return []
        counts = np.array([len(entry.ranges) for entry in entries])
        firsts = np.cumsum(counts) - counts
        best = np.maximum.reduceat(scores, firsts)
        results: list[Result] = []
        for i in np.argsort(-best, kind="stable"):
            entry, first = entries[i], firsts[i]
            if filter is not None and not filter(entry.document):
                continue
            part = int(np.argmax(scores[first : first + counts[i]]))
            start, end = entry.ranges[part]
            passage = Passage(part, start, end, entry.document.text[start:end])
            results.append(Result(entry.document.id, float(best[i]), entry.document, passage))
            if len(results) == k:
                break
        return results

    def _put(
        self, documents: list[Document], on_progress: Progress | None, batch_size: int
    ) -> None:
        check(
            type(batch_size) is int and batch_size > 0,
            f"batch_size must be an int of 1 or more, found {batch_size!r}",
        )
        check_callable(on_progress, "on_progress")
        count = self._engine.token_count
        done = 0
        waiting: list[tuple[Document, list[Range]]] = []
        texts: list[str] = []
        for i, document in enumerate(documents):
            ranges = cut_passages(document.text, self.passage_tokens, count)
            waiting.append((document, ranges))
            texts += [document.text[start:end] for start, end in ranges]
            if len(texts) < batch_size and i + 1 < len(documents):
                continue
            self._commit(waiting, texts, batch_size)
            done += len(waiting)
            waiting, texts = [], []
            if on_progress is not None:
                on_progress(done, len(documents))

    def _commit(
        self, waiting: list[tuple[Document, list[Range]]], texts: list[str], batch_size: int
    ) -> None:
        rows = [np.zeros((0, self._engine.dim), np.float32)]
        for start in range(0, len(texts), batch_size):
            batch = texts[start : start + batch_size]
            rows.append(self._checked(self._engine.embed_batch(batch), len(batch)))
        table = make_table(self.vectors, np.concatenate(rows))
        at = 0
        for document, ranges in waiting:
            part = table.rows(at, at + len(ranges))
            self._entries[document.id] = _Entry(document, ranges, part)
            at += len(ranges)
        self._table = None

    def _checked(self, vectors: Any, count: int) -> NDArray[np.float32]:
        found = np.array(vectors, np.float32)  # a copy: the caller may write into its own
        if found.shape != (count, self._engine.dim):
            raise DimensionError(
                f"the engine gave vectors of shape {found.shape}, expected "
                f"{(count, self._engine.dim)}"
            )
        for length in lengths(found):
            check(
                abs(length - 1) <= _LENGTH_TOLERANCE,
                f"the engine gave a vector of length {length}, expected one of length 1",
            )
        return found

    def _joined(self) -> Table:
        """All vectors in one table, and each entry's as a view of it."""
        if self._table is None:
            entries = list(self._entries.values())
            tables = [entry.table for entry in entries]
            table = join_tables(self.vectors, self._engine.dim, tables)
            self._fill([e.document for e in entries], [e.ranges for e in entries], table)
        assert self._table is not None
        return self._table

    def _fill(self, documents: list[Document], ranges: list[list[Range]], table: Table) -> None:
        at = 0
        for document, parts in zip(documents, ranges, strict=True):
            entry_table = table.rows(at, at + len(parts))
            self._entries[document.id] = _Entry(document, parts, entry_table)
            at += len(parts)
        self._table = table
