"""The checks of style and types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run_tool(*arguments: str) -> None:
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing() -> None:
    run_tool("ruff", "check", "--no-cache", ".")


def test_the_python_is_formatted() -> None:
    run_tool("ruff", "format", "--no-cache", "--check", ".")


def test_the_types_hold() -> None:
    """Strictly in the product and the tools, less so in the tests (pyproject.toml)."""
    run_tool("mypy", "pyapp", "training/pack", "tools", "bench", "build.py", "hatch_build.py")
    tests = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "tests").glob("*.py"))
    # Those of training/ are checked where torch is: `build.py test --training`.
    folders = ("bench", "browser", "support", "tools", "worker")
    run_tool("mypy", *tests, *(f"tests/{name}" for name in folders))
