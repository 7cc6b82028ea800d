"""Commands in processes of their own, and what they leave behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.bulk import ENVIRONMENT


def command(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    """Starts a command in a process of its own."""
    line = [sys.executable, "-m", "tern_tools", *arguments]
    return subprocess.Popen(line, env=ENVIRONMENT, text=True, **options)


def left_over(folder: Path) -> list[Path]:
    return list(folder.rglob("*.part"))
