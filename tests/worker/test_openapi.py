"""/openapi.json against what the endpoint does: schemathesis makes requests of every described and
many undescribed shapes, and checks status, headers, content type and schema of each answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.worker.client import get
from tests.worker.servers import Server

OPERATIONS = 12


def run_schemathesis(server: Server, folder: Path, examples: int) -> None:
    command = [str(Path(sys.executable).with_name("schemathesis")), "run"]
    command += [f"{server.url}/openapi.json", "--checks", "all", "--seed", "1", "--no-color"]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", str(examples)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout
    # All but the one that it was given its description by.
    assert f"Tested: {OPERATIONS - 1}" in done.stdout, done.stdout


def test_the_description_holds(server: Server, tmp_path: Path) -> None:
    run_schemathesis(server, tmp_path, 25)


@pytest.mark.full
def test_the_description_holds_for_many_more(server: Server, tmp_path: Path) -> None:
    run_schemathesis(server, tmp_path, 300)


def test_every_path_is_described(server: Server) -> None:
    """The description and the routes name the same paths."""
    paths = get(server, "/openapi.json").json()["paths"]
    described = {(path, method) for path, item in paths.items() for method in item} - {
        ("/v1/models/{id}", "parameters")
    }
    assert len(described) == OPERATIONS
    source = (Path(__file__).parents[2] / "worker" / "app.js").read_text("utf-8")
    for path in paths:
        assert json.dumps(path.replace("{id}", ":id")) in source
