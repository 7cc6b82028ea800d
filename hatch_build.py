"""Wheel build hook: adds what a build of one table format holds besides its Python sources.

The format is the last word of the project's name (tern-engine-emb-int4), the model comes from the
hook's `model` option, so that build.py makes the other formats with this same hook.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))

from tools.kernels import TABLES
from tools.payload import write_payload


class TernBuildHook(BuildHookInterface[Any]):
    """Stages the generated files in a temporary folder and maps them into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            raise RuntimeError(
                "tern-engine: an editable install has no model; run `python3 build.py all` and "
                "put pyapp on PYTHONPATH"
            )
        table = self.metadata.name.rsplit("-", 1)[-1]
        model = Path(self.root, self.config["model"])
        kernel = self.config.get("kernel")
        self._stage = tempfile.TemporaryDirectory(prefix="tern-wheel-")
        written = write_payload(
            table,
            self.metadata.version,
            model,
            Path(self._stage.name),
            Path(kernel) if kernel else None,
        )
        for name, path in written.items():
            build_data["force_include"][str(path)] = f"tern_engine/{name}"
        # One table loader a wheel: the other formats' codecs stay out.
        self.build_config.target_config.setdefault("exclude", [])
        self.build_config.target_config["exclude"] += [
            f"pyapp/tern_engine/embeddings/_{other}.py" for other in TABLES if other != table
        ]

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._stage.cleanup()
