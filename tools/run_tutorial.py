"""Runs docs/tutorial.ipynb in a Jupyter kernel, on pyapp/, and writes it anew with its outputs.

.venv/bin/python tools/run_tutorial.py [NOTEBOOK]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent


def main(notebook: Path) -> None:
    os.environ["PYTHONPATH"] = str(ROOT / "pyapp")  # the kernel's, too
    content = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    folder = {"metadata": {"path": str(notebook.resolve().parent)}}
    NotebookClient(content, timeout=300, record_timing=False, resources=folder).execute()
    # The same from any version of Python.
    content.metadata["language_info"] = {"name": "python"}
    nbformat.write(content, notebook)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(Path(*sys.argv[1:]) if sys.argv[1:] else ROOT / "docs" / "tutorial.ipynb")
