"""The wheels that were built, one a table format."""

from __future__ import annotations

import email
import tomllib
import zipfile
from email.message import Message
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("int4", "int8", "ternary", "fp32")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def wheel_path(table: str) -> Path:
    path = ROOT / "dist" / f"tern_engine_emb_{table}-{VERSION}-py3-none-any.whl"
    assert path.exists(), f"{path.name} is not built: run python3 build.py all"
    return path


def contents(table: str) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel_path(table)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def metadata(table: str) -> Message:
    return email.message_from_string(contents(table)[f"{info_folder(table)}/METADATA"].decode())


def info_folder(table: str) -> str:
    return f"tern_engine_emb_{table}-{VERSION}.dist-info"


def stamp(table: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    exec(contents(table)[f"tern_engine/_build_{table}.py"], values)
    return values
