"""examples/python: each runs, finds the same, and is short."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.bulk import ENVIRONMENT, ROOT

FOLDER = ROOT / "examples" / "python"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@cache
def printed(example: Path) -> str:
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(example)],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_it_finds_what_the_index_file_finds(example: Path) -> None:
    first, second = (line.split(" ", 1) for line in printed(example).splitlines())
    assert (first[1], second[1]) == ("The ferry leaves at nine.", "The bank is closed.")
    assert 1 > float(first[0]) > float(second[0]) > 0
    assert printed(example) == printed(FOLDER / "browser_index.py")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_it_has_fewer_than_twenty_lines_and_stands_in_the_page(example: Path) -> None:
    text = example.read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith('"""')]
    assert len(lines) < 20
    assert f"`{example.name}`" in (ROOT / "docs" / "bulk.md").read_text("utf-8")
