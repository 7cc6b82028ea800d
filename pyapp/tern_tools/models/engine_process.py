"""An engine build in a Python process of its own.

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
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._check import check

WORKER = Path(__file__).with_name("engine_worker.py")


class EngineRefused(Exception):
    """The engine raised a TernError; `code` is its code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class EngineProcess:
    """A context manager around one worker; requests are answered in turn."""

    def __init__(self, package: Path) -> None:
        """`package`: the folder that holds the build's tern_engine. InvalidInputError if not."""
        check((package / "tern_engine").is_dir(), f"{package} holds no tern_engine")
        environment = {**os.environ, "PYTHONPATH": str(package.resolve())}
        self._process = subprocess.Popen(
            # -P: the worker's own folder must not shadow anything.
            [sys.executable, "-P", str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def __enter__(self) -> Self:
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
