"""Remembers what each build step read and wrote, so that only what changed is made again."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(path: Path) -> str:
    """SHA-256 of a file's content, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_under(paths: Iterable[Path]) -> list[Path]:
    """The files among `paths`, and every file below the folders among them; sorted, no caches."""
    found: set[Path] = set()
    for path in paths:
        below = path.rglob("*") if path.is_dir() else [path]
        found |= {p for p in below if p.is_file() and "__pycache__" not in p.parts}
    return sorted(found)


class Ledger:
    """A JSON file of step -> {inputs: one hash, outputs: {path: hash}}.

    A step is left out when the content of its inputs, its `extra` text and its outputs are all as
    they were when it last ran. Times and sizes play no part.
    """

    def __init__(self, path: Path, root: Path = ROOT) -> None:
        self._path = path
        self._root = root
        try:
            self._steps: dict[str, dict[str, object]] = json.loads(path.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            self._steps = {}  # first run, or a file cut short: everything is made again

    def step(
        self,
        name: str,
        inputs: Iterable[Path],
        outputs: Sequence[Path],
        make: Callable[[], None],
        *,
        extra: str = "",
    ) -> bool:
        """Run `make` unless its result is there; return whether it ran.

        inputs, outputs   files, or folders that stand for all files below them
        extra             whatever else the result depends on
        Raises FileNotFoundError when `make` leaves an output out.
        """
        wanted = self._inputs_hash(inputs, extra)
        if self._steps.get(name) == {"inputs": wanted, "outputs": self._hashes(outputs)}:
            return False
        self._steps.pop(name, None)
        make()
        for output in outputs:
            if not output.exists():
                raise FileNotFoundError(f"step {name} made no {output}")
        self._steps[name] = {"inputs": wanted, "outputs": self._hashes(outputs)}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.write_text(json.dumps(self._steps, indent=1), "utf-8")
        draft.replace(self._path)
        return True

    def _inputs_hash(self, inputs: Iterable[Path], extra: str) -> str:
        everything = json.dumps([self._hashes(inputs), extra])
        return hashlib.sha256(everything.encode()).hexdigest()

    def _hashes(self, paths: Iterable[Path]) -> dict[str, str]:
        return {self._label(path): digest(path) for path in files_under(paths)}

    def _label(self, path: Path) -> str:
        path = path.resolve()
        if path.is_relative_to(self._root):
            return path.relative_to(self._root).as_posix()
        return path.as_posix()


def empty_folder(path: Path) -> Path:
    """Make `path` an empty folder."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
