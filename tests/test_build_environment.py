"""The environments that build.py installs into: made once, and anew where they are of no use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import build as build_script
from tools import environment, lock


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the repository, with three groups of no packages."""
    (tmp_path / "requirements").mkdir()
    for group in ("build", "test", "training"):
        (tmp_path / "requirements" / f"{group}.txt").write_text(f"# {group}\n")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(lock, "ROOT", tmp_path)
    return tmp_path


@pytest.fixture
def made(checkout: Path) -> Path:
    """What makes an environment whole in the eyes of build.py."""
    folder = checkout / ".venv"
    python = environment.python_of(folder)
    python.parent.mkdir(parents=True)
    python.touch()
    version = ".".join(map(str, sys.version_info[:3]))
    (folder / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    (folder / "installed-build").write_text("of other pins")
    return folder


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would run, without the Python that runs them."""
    commands: list[list[str]] = []
    monkeypatch.setattr("subprocess.run", lambda command, **_: commands.append(command[1:]))
    return commands


def is_made(commands: list[list[str]]) -> bool:
    return any(command[:2] == ["-m", "venv"] for command in commands)


def test_one_that_was_left_without_pip_is_made_anew(checkout: Path) -> None:
    folder = checkout / ".venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    stray = folder / "stray"
    stray.touch()
    assert environment.ensure_python_packages(folder, ["build"])
    assert not stray.exists()
    pip = [str(environment.python_of(folder)), "-m", "pip", "--version"]
    assert str(folder) in subprocess.run(pip, check=True, capture_output=True, text=True).stdout
    assert environment.is_whole(folder)
    assert not environment.ensure_python_packages(folder, ["build"])


def test_one_that_works_is_kept(made: Path, ran: list[list[str]]) -> None:
    """Also when it was made before its version was looked at, and by another bugfix release."""
    config = made / "pyvenv.cfg"
    major, minor = sys.version_info[:2]
    config.write_text(f"version = {major}.{minor}.99\n")
    assert not environment.ensure_python_packages(made, ["build", "test"])
    assert not is_made(ran) and len(ran) == 2
    assert not environment.ensure_python_packages(made, ["build", "test"])
    assert len(ran) == 2
    pins = made.parent / "requirements" / "test.txt"
    pins.write_text("# changed")
    assert not environment.ensure_python_packages(made, ["build", "test"])
    assert [command[-2:] for command in ran[2:]] == [[str(pins), "--no-deps"]]


@pytest.mark.parametrize("loss", ["python", "pyvenv.cfg", "installed-build"])
def test_one_that_lacks_something_is_made_anew(made: Path, ran: list[list[str]], loss: str) -> None:
    (environment.python_of(made) if loss == "python" else made / loss).unlink()
    assert environment.ensure_python_packages(made, ["build"])
    assert ran[0] == ["-m", "venv", "--clear", str(made)]


@pytest.mark.parametrize("version", ["3.1.1", "2.7.18", f"3.{sys.version_info[1]}0.1"])
def test_one_of_another_python_is_made_anew(made: Path, ran: list[list[str]], version: str) -> None:
    (made / "pyvenv.cfg").write_text(f"version = {version}\n")
    assert environment.ensure_python_packages(made, ["build"])
    assert is_made(ran)
    # What was installed went with the old one.
    assert [command[:3] for command in ran[1:]] == [["-m", "pip", "install"]]


def test_making_one_may_be_interrupted(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even while the folder is emptied, of which anything may then be left."""
    (made / "installed-test").touch()
    (made / "pyvenv.cfg").write_text("version = 3.1.1\n")

    def interrupted(command: list[str], **_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("subprocess.run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        environment.ensure_python_packages(made, ["build"])
    version = ".".join(map(str, sys.version_info[:3]))
    (made / "pyvenv.cfg").write_text(f"version = {version}\n")
    assert not environment.is_whole(made)


def test_training_has_its_dependencies_found_by_pip(made: Path, ran: list[list[str]]) -> None:
    environment.ensure_python_packages(made, ["training"])
    (install,) = ran
    assert "--no-deps" not in install


def test_a_new_environment_is_gone_on_with_in_a_new_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This one has begun with what is no longer there."""
    started: list[str] = []

    class Replaced(Exception):
        pass

    def execv(path: str, arguments: list[str]) -> None:
        started.extend(arguments)
        raise Replaced

    monkeypatch.setattr(os, "execv", execv)
    monkeypatch.setattr(sys, "prefix", str(build_script.VENV))
    monkeypatch.setattr(environment, "ensure_python_packages", lambda folder, groups: True)
    with pytest.raises(Replaced):
        build_script.main(["kernels"])
    assert started[0] == str(build_script.VENV_PYTHON) and started[-1] == "kernels"
