"""`build.py test --training` runs training's tests alone; the other runs stay without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

import build as build_script
from tools import environment

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What build.py would install and run, in its order."""
    seen: list[list[str]] = []

    def run(command: list[str], **variables: str) -> int:
        seen.append(command)
        return 3 if "mypy" in command else 0

    def python_packages(folder: Path, groups: list[str]) -> bool:
        seen.append([folder.name, *groups])
        return False

    def npm_packages(folder: Path) -> None:
        seen.append(["npm", folder.name])

    monkeypatch.setattr(build_script, "_run", run)
    monkeypatch.setattr(build_script, "_make", lambda recipe: 0)
    monkeypatch.setattr(build_script, "_ensure_chromium", lambda: None)
    monkeypatch.setattr(environment, "ensure_python_packages", python_packages)
    monkeypatch.setattr(environment, "ensure_npm_packages", npm_packages)
    return seen


def test_training_has_its_own_environment_and_no_npm(log: list[list[str]]) -> None:
    code = build_script.main(["test", "--training", "-k", "step"])
    assert code == 3, "the worst result counts"
    *installed, types, tests = log
    assert installed == [[".venv", "build"], [".venv-training", "training", "teacher"]]
    assert ".venv-training" in types[0] and types[1:] == [
        "-m",
        "mypy",
        "training",
        "tests/training",
    ]
    assert tests == [types[0], "-m", "pytest", "tests/training", "-k", "step"]


def test_the_everyday_run_needs_nothing_of_training(log: list[list[str]]) -> None:
    assert build_script.main(["test"]) == 0
    words = " ".join(" ".join(command) for command in log)
    assert "training" not in words and "teacher" not in words
    pinned = "".join(
        (ROOT / "requirements" / f"{group}.txt").read_text("utf-8")
        for group in build_script.TARGETS["test"].needs
        if not group.startswith("npm")
    )
    assert "torch==" not in pinned and "tokenizers==" in pinned
