"""What an operator runs: wrangler dev and wrangler deploy, as far as they go offline."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.worker import client
from tests.worker.client import MODEL, Reply, embed, get
from tests.worker.servers import (
    BUILT,
    NODE_MODULES,
    OFFLINE,
    WORKER,
    Server,
    build_serve,
    wrangler_dev,
)

# Far below the 64 MiB that Cloudflare takes, and below the 10 MB that it once took.
MOST_GZIPPED_KIB = 5 * 1024
MOST_ASSET_BYTES = 25 * 1024 * 1024


def configuration(folder: Path, **changes: Any) -> Path:
    """The committed configuration, with changes, as a file in `folder`."""
    text = (WORKER / "wrangler.jsonc").read_text("utf-8")
    content = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    content["main"] = str(BUILT / "script" / "worker.js")
    content["base_dir"] = str(BUILT / "script")
    content["assets"]["directory"] = str(BUILT / "assets")
    content["vars"] |= changes.pop("vars", {})
    path = folder / "wrangler.json"
    path.write_text(json.dumps(content | changes), "utf-8")
    return path


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """wrangler dev with the cache on, a rate limit and a key from .dev.vars."""
    folder = tmp_path_factory.mktemp("dev")
    limiter = {
        "name": "RATE_LIMITER",
        "namespace_id": "1001",
        "simple": {"limit": 30, "period": 60},
    }
    (folder / ".dev.vars").write_text("API_KEY=one,two,three\n", "utf-8")
    config = configuration(folder, vars={"CACHE": "on"}, ratelimits=[limiter])
    with wrangler_dev(folder, config) as running:
        yield running


def post(*request: Any) -> Reply:
    """As client.post, past wrangler's own restarts.

    wrangler watches files and may start the Worker anew at any time. A request that this cuts off
    gets a 503 in plain text, which asks to try again; the Worker's own errors are JSON.
    """
    end = time.monotonic() + 60
    while True:
        reply = client.post(*request)
        restarted = reply.status == 503 and reply.headers["content-type"].startswith("text/plain")
        if not restarted or time.monotonic() > end:
            return reply
        time.sleep(0.3)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_the_committed_configuration_serves(tmp_path: Path, server: Server) -> None:
    with build_serve(tmp_path) as running:
        assert get(running, "/health").json()["engine"] == "cold"
        assert embed(running, ["a small boat"]) == embed(server, ["a small boat"])
        assert get(running, "/model.bin").status == 404


def test_the_secret_asks_for_a_key(dev: Server) -> None:
    request = {"model": MODEL, "input": "a"}
    assert post(dev, "/v1/embeddings", request).status == 401
    assert post(dev, "/v1/embeddings", request, bearer("one")).status == 200


def test_the_cache_keeps_answers_apart(dev: Server) -> None:
    def ask(path: str, content: dict[str, Any]) -> tuple[str, bytes]:
        reply = post(dev, path, content, bearer("two"))
        assert reply.status == 200
        assert "cache-control" not in reply.headers
        return reply.headers["x-cache"], reply.body

    def ask_again(path: str, content: dict[str, Any]) -> tuple[str, bytes]:
        """The answer is put into the cache after it was sent."""
        end = time.monotonic() + 10
        while (found := ask(path, content))[0] == "miss" and time.monotonic() < end:
            time.sleep(0.3)
        return found

    request = {"model": MODEL, "input": ["a small boat", "word " * 200]}
    first = ask("/v1/embeddings", request)
    assert first[0] == "miss"
    assert ask_again("/v1/embeddings", request) == ("hit", first[1])
    assert ask("/v1/embeddings", {**request, "dimensions": 5})[0] == "miss"
    assert ask("/embed", {"text": "a small boat"})[0] == "miss"
    assert ask("/tokenize", {"text": "a small boat"})[0] == "miss"
    reply = post(dev, "/v1/embeddings", request, bearer("two"))
    assert (reply.headers["x-cache"], reply.headers["x-truncated-inputs"]) == ("hit", "1")
    # Refusals are not kept, and the key is asked for all the same.
    assert post(dev, "/v1/embeddings", request).status == 401
    assert "x-cache" not in post(dev, "/embed", {}, bearer("two")).headers


def test_the_rate_limit(dev: Server) -> None:
    """It counts by key: one that has asked too often does not keep out the others."""
    request = {"text": "a"}
    statuses = []
    for _ in range(70):  # the limiter counts by the minute, which may just turn
        reply = post(dev, "/tokenize", request, bearer("three"))
        statuses.append(reply.status)
        if reply.status == 429:
            break
    assert statuses.count(200) >= 30
    assert reply.error()["code"] == "rate_limit_exceeded"
    assert reply.error()["type"] == "rate_limit_error"
    assert reply.headers["retry-after"] == "60"
    assert post(dev, "/tokenize", request, bearer("one")).status == 200
    assert get(dev, "/config", bearer("three")).status == 200


def test_what_would_be_deployed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """wrangler reads the committed configuration and says how large the upload is."""
    command = [str(NODE_MODULES / ".bin" / "wrangler"), "deploy", "--dry-run"]
    command += ["--config", str(WORKER / "wrangler.jsonc"), "--outdir", str(tmp_path / "out")]
    environment = {**os.environ, **OFFLINE, "HOME": str(tmp_path), "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"Total Upload: ([\d.]+) KiB / gzip: ([\d.]+) KiB", done.stdout)
    assert found, done.stdout
    assets = {path.name: path.stat().st_size for path in (BUILT / "assets").iterdir()}
    with capsys.disabled():
        print(f"\n  wrangler deploy --dry-run: {found[0]}; assets: {assets}", end="")
    assert float(found[2]) < MOST_GZIPPED_KIB
    assert set(assets) == {"model.bin", "python.zip"}
    assert max(assets.values()) < MOST_ASSET_BYTES
    uploaded = {path.name for path in (tmp_path / "out").iterdir()} - {"README.md"}
    assert uploaded == {path.name for path in (BUILT / "script").iterdir()}
