"""The Worker built with --snapshot: the same answers, from a quicker start."""

from __future__ import annotations

import hashlib
import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.worker.client import MODEL, embed, get, post
from tests.worker.servers import ROOT, Server, workerd
from tests.worker.test_runtime import (
    GOLDEN,
    MEMORY_LIMIT,
    TEXTS,
    cpu_seconds,
    held_memory,
    observed_script,
)
from tools.worker import MOST_ASSET_BYTES, assemble

# What random.seed() takes: the state of Python's generator.
SEED_BYTES = 624 * 4


@dataclass(frozen=True)
class Built:
    script: Path
    assets: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    out = tmp_path_factory.mktemp("snapshot") / "worker"
    assemble(out, ROOT / "dist" / "web", snapshot=True)
    yield Built(out / "script", out / "assets")


def test_the_same_bits(
    built: Built, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (built.assets / "snapshot.bin").stat().st_size <= MOST_ASSET_BYTES
    assert str(ROOT).encode() not in (built.assets / "snapshot.bin").read_bytes()
    with workerd(tmp_path, script=built.script, assets=built.assets) as running:
        assert get(running, "/health").json()["engine"] == "cold"
        before, main_before = cpu_seconds(running.pid), cpu_seconds(running.pid, running.pid)
        embed(running, ["a small boat"])
        everything = cpu_seconds(running.pid) - before
        main = cpu_seconds(running.pid, running.pid) - main_before
        vectors = embed(running, GOLDEN["texts"])
        assert hashlib.sha256(b"".join(vectors)).hexdigest() == GOLDEN["sha256"]
        assert embed(running, TEXTS) == embed(server, TEXTS)
        assert post(running, "/embed", {"text": 1}).error()["code"] == "INVALID_INPUT"
    with capsys.disabled():
        print(
            f"\n  first request from a snapshot: {main:.2f} s of CPU on the Worker's thread, "
            f"{everything:.2f} s with V8's helpers",
            end="",
        )


def test_randomness_is_drawn_anew(built: Built, tmp_path: Path) -> None:
    """Each start seeds Python's random numbers from the host; tests/js/worker/snapshot.test.mjs
    shows what they are with and without it. Nor does a start take more memory than there is."""
    script = observed_script(tmp_path, built.script)
    with workerd(
        tmp_path, script=script, assets=built.assets, main="probe.js", inspect=True
    ) as running:
        assert get(running, "/probe").json()["entropy"] == 0
        embed(running, ["a small boat"])
        assert get(running, "/probe").json()["entropy"] >= SEED_BYTES
        assert sum(held_memory(running).values()) < MEMORY_LIMIT


def test_a_snapshot_of_another_build_is_refused(built: Built, tmp_path: Path) -> None:
    """Its identity is in its header; the Worker answers 503 and not with anything else."""
    content = bytearray((built.assets / "snapshot.bin").read_bytes())
    identity = hashlib.sha256((built.assets / "python.zip").read_bytes()).digest()
    at = content.index(array("I", struct.unpack(">8I", identity)).tobytes())
    content[at] ^= 1
    (built.assets / "snapshot.bin").write_bytes(content)
    with workerd(tmp_path, script=built.script, assets=built.assets) as running:
        reply = post(running, "/v1/embeddings", {"model": MODEL, "input": "a"})
        assert (reply.status, reply.error()["code"]) == (503, "engine_unavailable")
        content[at] ^= 1
        (built.assets / "snapshot.bin").write_bytes(content)
        assert post(running, "/v1/embeddings", {"model": MODEL, "input": "a"}).status == 200
