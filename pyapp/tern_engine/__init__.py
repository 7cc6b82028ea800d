"""Sentence embeddings on the user's own CPU, the same bits on every host.

    import tern_engine
    vector = tern_engine.embed("a sentence")    # float32 [384], unit length

The module-level functions share one engine with the build's own model, loaded at first use.
Importing fails with BuildConflictError when two builds are installed over each other.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from .build import installed_build
from .engine import Engine
from .errors import TernError

__all__ = ["Engine", "TernError", "__version__", "config_summary", "embed", "tokenize"]

# A checkout that was not built can still be imported: packing models needs its format.
_build = installed_build()
__version__ = _build.version if _build else "0+unbuilt"

_default: Engine | None = None
_default_lock = Lock()


def _engine() -> Engine:
    global _default
    with _default_lock:
        if _default is None:
            _default = Engine.load()
        return _default


def embed(text: str) -> Any:
    """float32 [384], unit length: a numpy array, or array('f') where numpy is not installed."""
    return _engine().embed(text)


def tokenize(text: str) -> list[int]:
    """Ids from [CLS] to [SEP], at most 128, no padding."""
    return _engine().tokenize(text)


def config_summary() -> str:
    """The build and its model, as a JSON object in text."""
    return _engine().config_summary()
