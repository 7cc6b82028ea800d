"""Loaded by the workers of this machine before they begin."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Leave Ctrl-C, which the terminal sends to every process, to the one that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
