"""A bounded load run on this machine alone: every answer is right, memory stays flat."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.worker.client import MODEL, get
from tests.worker.servers import Server, workerd
from tests.worker.test_runtime import (
    HEAP_MEGABYTES,
    MEMORY_LIMIT,
    held_memory,
    observed_script,
)

IN_FLIGHT = 32


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("load")
    script = observed_script(folder)
    with workerd(
        folder, script=script, main="probe.js", inspect=True, heap_megabytes=HEAP_MEGABYTES
    ) as running:
        assert get(running, "/config").status == 200
        yield running


def run_load(
    server: Server, requests: int, malformed: float, capsys: pytest.CaptureFixture[str]
) -> dict[str, Any]:
    script = Path(__file__).with_name("load.mjs")
    arguments = [server.port, requests, IN_FLIGHT, malformed, MODEL]
    done = subprocess.run(
        ["node", str(script), *map(str, arguments)],
        capture_output=True, text=True, timeout=1200, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    held = sum(held_memory(server).values())
    with capsys.disabled():
        print(
            f"\n  load: {found['sent']} requests, {IN_FLIGHT} in flight, {malformed:.0%} malformed"
            f": p50 {found['p50']:.1f} ms, p99 {found['p99']:.1f} ms, "
            f"{found['sent'] / found['seconds']:.0f} a second, statuses {found['statuses']}, "
            f"{held / 1e6:.0f} MB held",
            end="",
        )
    assert found["sent"] == requests
    assert found["wrong"] == 0
    assert held < MEMORY_LIMIT
    return found


@pytest.mark.parametrize("malformed", [0, 0.1])
def test_mixed_requests(
    loaded: Server, malformed: float, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run_load(loaded, 500, malformed, capsys)
    if malformed == 0:
        assert found["statuses"] == {"200": 500}


@pytest.mark.full
@pytest.mark.parametrize("malformed", [0, 0.1])
def test_ten_thousand_mixed_requests(
    loaded: Server, malformed: float, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run_load(loaded, 10_000, malformed, capsys)
    if malformed == 0:
        assert found["statuses"] == {"200": 10_000}
