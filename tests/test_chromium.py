"""The Chromium that is found on a machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.chromium import executable


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_that_of_the_system_by_any_of_its_names(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert executable() is None
    program = tmp_path / name
    program.touch(0o755)
    assert executable() == str(program)
