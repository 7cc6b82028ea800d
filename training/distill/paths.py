"""Where training reads its data and keeps what must survive between runs."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir() -> Path:
    """Folder for chunks, checkpoints and logs; TERN_TRAINING_CACHE overrides the default."""
    given = os.environ.get("TERN_TRAINING_CACHE")
    path = Path(given) if given else Path.home() / ".cache" / "tern-training"
    path.mkdir(parents=True, exist_ok=True)
    return path


def data_dir(given: str | None, needs: str = "corpus") -> Path:
    """Folder with corpus/ and eval/, from the argument or TERN_TRAINING_DATA.

    Raises SystemExit when neither is set or the folder lacks the one in `needs`.
    """
    name = given or os.environ.get("TERN_TRAINING_DATA")
    if not name:
        raise SystemExit("say where the data is: --data DIR or TERN_TRAINING_DATA=DIR")
    path = Path(name)
    if not (path / needs).is_dir():
        raise SystemExit(f"{path} has no {needs}/ folder")
    return path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by `data` so that a kill leaves the old or the new file, never half."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    part.replace(path)


def note_pid(role: str) -> None:
    """Add a line `pid role` to the cache's `pids` file: who may be stopped or continued.

    One small write in append mode, so that processes starting together lose no line.
    """
    with (cache_dir() / "pids").open("a") as out:
        out.write(f"{os.getpid()} {role}\n")
