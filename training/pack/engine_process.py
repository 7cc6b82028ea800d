"""The checkout's build of a table format, in a Python process of its own."""

from __future__ import annotations

from pathlib import Path

from tern_engine.errors import BuildMissingError
from tern_tools.models import engine_process
from tern_tools.models.engine_process import EngineRefused

__all__ = ["ROOT", "EngineProcess", "EngineRefused", "package_path"]

ROOT = Path(__file__).resolve().parents[2]


def package_path(embedding_format: str) -> Path:
    """The folder to import that build of tern_engine from. BuildMissingError if there is none."""
    source = ROOT / "pyapp"
    if (source / "tern_engine" / f"_build_{embedding_format}.py").exists():
        return source
    unpacked = ROOT / "build" / "packages" / embedding_format
    if (unpacked / "tern_engine").is_dir():
        return unpacked
    raise BuildMissingError(
        f"there is no {embedding_format} build of the engine here: run python3 build.py all"
    )


class EngineProcess(engine_process.EngineProcess):
    """That of tern_tools, which knows where the builds are."""

    def __init__(self, embedding_format: str, package: Path | None = None) -> None:
        """`package`: a folder to import that build from, where it is not the built one."""
        super().__init__(package or package_path(embedding_format))
