"""The engine of a given table format, in a Python process of its own.

An installed engine reads one table format, so a program that wants all four needs four processes.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tern_engine.errors import BuildMissingError

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("engine_worker.py")


class EngineRefused(Exception):
    """The engine raised a TernError; `code` is its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


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


class EngineProcess:
    """A context manager around one worker; requests are answered in turn."""

    def __init__(self, embedding_format: str, package: Path | None = None) -> None:
        """`package`: a folder to import that build from, where it is not the built one."""
        folder = package or package_path(embedding_format)
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        self._process = subprocess.Popen(
            # -P: the worker's own folder must not shadow anything.
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._process.communicate()

    def load(self, model: Path) -> dict[str, Any]:
        """Load a model. {"fingerprint", "summary"}, or EngineRefused."""
        return self._ask({"model": str(model)})

    def embed(
        self, model: Path, texts: Sequence[str]
    ) -> tuple[list[list[int]], NDArray[np.float32]]:
        """The ids of each text, and the vectors, float32 [n, output_dim]. Or EngineRefused."""
        answer = self._ask({"model": str(model), "texts": list(texts)})
        flat = np.frombuffer(base64.b64decode(answer["vectors"]), dtype="<f4")
        return answer["ids"], flat.reshape(len(texts), -1)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the engine's process ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        if "code" in answer:
            raise EngineRefused(answer["code"], answer["message"])
        return answer
