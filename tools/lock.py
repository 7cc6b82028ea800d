"""Keeps builds in one checkout apart."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tools.ledger import ROOT


@contextmanager
def build_lock() -> Iterator[None]:
    """Hold off other builds in this checkout, where the system can."""
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
