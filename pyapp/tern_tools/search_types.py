"""What an index takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from .documents import Document


@runtime_checkable
class BatchEngine(Protocol):
    """What embeds texts: an Engine, an EnginePool, or what stands in for one."""

    @property
    def dim(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def embed_batch(self, texts: Sequence[str], /) -> Any: ...


@runtime_checkable
class SearchEngine(Protocol):
    """What an index needs of an engine; tern_engine.Engine is one. Embeddings have length 1."""

    @property
    def dim(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def max_seq_len(self) -> int: ...
    def embed(self, text: str) -> Any: ...
    def embed_batch(self, texts: Sequence[str]) -> Any: ...
    def token_count(self, text: str) -> tuple[int, bool]: ...


@dataclass(frozen=True)
class Passage:
    """A part of a document's text: offsets in code points, the end exclusive."""

    index: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Result:
    """A document found, with its best passage; score is the cosine."""

    id: str
    score: float
    document: Document
    passage: Passage


@dataclass(frozen=True)
class Changes:
    """How many documents sync() added, embedded anew and removed."""

    added: int
    changed: int
    removed: int
