"""The command behind docs/python.md's figures of threads and processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from tests.bench.shared import ROOT


def test_it_measures_every_way() -> None:
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    (words,) = re.findall(r"`PYTHONPATH=pyapp python (-m bench\.\w+)`", page)
    done = subprocess.run(
        [sys.executable, *words.split(), "64", "1"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "pyapp")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    head, *rows = (re.split(r"\s{2,}", line) for line in done.stdout.splitlines())
    assert head == ["texts a second", "best", "median", "× one"]
    assert [row[0] for row in rows] == [
        "one engine",
        "pool of two, two threads",
        "two processes, with their start",
    ]
    for _, best, median, ratio in rows:
        assert float(best) == float(median) > 0  # of one round
        assert float(ratio) > 0
    assert rows[0][-1] == "1.00"
