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


def on_a_full_disk(kib: int, *arguments: str) -> str:
    """What a command says that may write files of `kib` KiB at most, which stands for a full disk:
    one line, and exit code 4. (The shell's ulimit counts in KiB.)"""
    line = [sys.executable, "-m", "tern_tools", *arguments]
    limited = ["bash", "-c", f'ulimit -f {kib} && exec "$@"', "bash", *line]
    done = subprocess.run(limited, env=ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 4 and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def left_over(folder: Path) -> list[Path]:
    return list(folder.rglob("*.part"))
