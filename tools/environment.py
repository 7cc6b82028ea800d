"""What build.py installs: Python packages in virtual environments, npm's in node_modules.

Runs on a Python that has nothing installed yet.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tools.ledger import ROOT
from tools.lock import build_lock

# pip adds what these need; the files of the others list all of it.
WITH_DEPENDENCIES = frozenset({"training"})


def python_of(folder: Path) -> Path:
    """The Python of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure_python_packages(folder: Path, groups: Iterable[str]) -> bool:
    """Install requirements/<group>.txt of each group that changed into a virtual environment.

    One that is not there, not whole or of another Python than this is made anew first.

    folder   the environment's
    Returns whether it was made.
    """
    with build_lock():
        anew = not is_whole(folder)
        if anew:
            print(f"making {folder.name}", flush=True)
            # Before the rest: emptying the folder may be interrupted, too.
            for stamp in folder.glob("installed-*"):
                stamp.unlink()
            command = [sys.executable, "-m", "venv", "--clear", str(folder)]
            subprocess.run(command, check=True)
        for group in groups:
            pins = ROOT / "requirements" / f"{group}.txt"
            install = [str(python_of(folder)), "-m", "pip", "install", "--quiet"]
            install += ["--disable-pip-version-check", "-r", str(pins)]
            if group not in WITH_DEPENDENCIES:
                install.append("--no-deps")
            _when_changed(folder / f"installed-{group}", pins, f"installing {pins.name}", install)
    return anew


def is_whole(folder: Path) -> bool:
    """Whether pip has installed something in this environment, and for this version of Python.

    The file that says which is written first, pip last: only that it did its work shows that the
    environment was made to its end.
    """
    config = folder / "pyvenv.cfg"
    if not config.is_file() or not python_of(folder).exists():
        return False
    made_by = re.search(r"^version *= *(\d+\.\d+)", config.read_text("utf-8"), re.MULTILINE)
    this = f"{sys.version_info.major}.{sys.version_info.minor}"
    return made_by is not None and made_by[1] == this and any(folder.glob("installed-*"))


def ensure_npm_packages(folder: Path) -> None:
    """Install what the package-lock.json in `folder` lists, unless that was done."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        sys.exit("build.py needs Node 20 or newer, and npm")
    lock = folder / "package-lock.json"
    stamp = folder / "node_modules" / ".installed"
    command = [npm, "ci", "--prefix", str(folder), "--no-fund", "--no-audit"]
    with build_lock():
        _when_changed(stamp, lock, f"npm ci for {lock.relative_to(ROOT)}", command)


def _when_changed(stamp: Path, source: Path, what: str, command: list[str]) -> None:
    """Run `command` unless `stamp` says that it ran for this content of `source`."""
    content = hashlib.sha256(source.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == content:
        return
    print(what, flush=True)
    subprocess.run(command, cwd=ROOT, check=True)
    stamp.write_text(content)
