"""The Worker on workerd: the same bits as elsewhere, no code made at run time, memory, start."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tern_engine import Engine

from tests.worker.client import MODEL, embed, get, post
from tests.worker.servers import BUILT, ROOT, Server, workerd

GOLDEN = json.loads((ROOT / "tests" / "golden" / "vectors.json").read_text("utf-8"))
TOKENS = json.loads((ROOT / "tests" / "golden" / "tokens.json").read_text("utf-8"))
TEXTS = [
    "", " ", "\t\n", "a small boat", "ΟΔΟΣ", "𠀀𠮷野家", "a\U0002b820b", "A\u0378B", "[MASK] token",
    "a" * 50_000, "many words one after another " * 60, "\x00", "\ufeffbom", "e\u0301 é", "\u202e",
    "\ud800", "a\udc00b", "\udc00\ud800", "👩‍👩‍👧‍👦 family", "\u2028line\u2029",
]  # fmt: skip
MEMORY_LIMIT = 128 * 1024 * 1024
# Without a limit V8 lets garbage lie where a Worker's would have to be collected.
HEAP_MEGABYTES = 32


def observed_script(folder: Path, built: Path = BUILT / "script") -> Path:
    """The built script with probe.js beside it."""
    script = Path(shutil.copytree(built, folder / "script"))
    shutil.copy(Path(__file__).with_name("probe.js"), script)
    return script


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The built Worker behind probe.js, with an inspector; cold."""
    folder = tmp_path_factory.mktemp("observed")
    with workerd(
        folder,
        script=observed_script(folder),
        main="probe.js",
        inspect=True,
        heap_megabytes=HEAP_MEGABYTES,
    ) as running:
        yield running


def test_the_golden_texts_have_the_golden_bits(server: Server) -> None:
    vectors = embed(server, GOLDEN["texts"])
    assert hashlib.sha256(b"".join(vectors)).hexdigest() == GOLDEN["sha256"]
    assert get(server, "/config").json()["fingerprint"] == GOLDEN["model"]


def test_odd_texts_have_the_bits_that_cpython_gives_them(server: Server) -> None:
    """Lone surrogates among them: JSON can write them, and both hosts read them alike."""
    native = Engine.load()
    expected = [native.embed(text).tobytes() for text in TEXTS]
    assert embed(server, TEXTS) == expected
    for text, vector in zip(TEXTS, expected, strict=True):
        assert embed(server, [text]) == [vector], ascii(text[:40])
        assert post(server, "/tokenize", {"text": text}).json()["ids"] == native.tokenize(text)
    native.dispose()


def test_golden_ids(server: Server) -> None:
    for case in TOKENS["texts"]:
        answer = post(server, "/tokenize", {"text": case["text"] * case.get("repeat", 1)}).json()
        assert answer["ids"] == case["ids"], case["text"]


def test_no_code_is_made_at_run_time(observed: Server) -> None:
    """The probe notes every attempt, and the runtime would refuse it; there is none."""
    assert get(observed, "/probe").json() == {"generated": [], "memories": [], "entropy": 0}
    for path, content in (
        ("/v1/embeddings", {"model": MODEL, "input": TEXTS}),
        ("/tokenize", {"text": "a"}),
        ("/classify", {"text": "a", "labels": ["b", "c"]}),
        ("/search", {"query": "a", "documents": ["b", "c"]}),
        ("/similarity", {"a": "b", "b": "c"}),
        ("/embed", {"text": "a"}),
        ("/embed", {"text": 1}),
    ):
        assert post(observed, path, content).status in (200, 400)
    assert get(observed, "/config").status == 200
    assert get(observed, "/probe").json()["generated"] == []
    attempts = get(observed, "/attempts").json()
    refusals = attempts.pop("refusals")
    assert set(attempts) == {"generated"}
    assert set(attempts["generated"]) == {"Module", "compile", "instantiate", "eval", "Function"}
    assert all("disallowed" in message for message in refusals), refusals


def test_memory_stays_within_a_workers_limit(
    observed: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Worker may hold 128 MB: JavaScript's heap, array buffers and WebAssembly memories.

    V8 tells the first two (Runtime.getHeapUsage), the probe adds up the third. Measured after
    batches, long texts, large bodies and refusals. V8 may use HEAP_MEGABYTES for what lives on the
    heap, as little as a Worker has left; it would end the process were that too little.
    """
    for _ in range(3):
        embed(observed, [f"text number {n}" for n in range(2048)])
        embed(observed, ["many words one after another " * 40] * 256)
        assert post(observed, "/embed", {"texts": ["word"] * 256}).status == 200
        assert post(observed, "/embed", b'{"text":"' + b"a" * 2_000_000 + b'"}').status == 200
        assert post(observed, "/embed", b"[" * 2_000_000).status == 400
    held = held_memory(observed)
    with capsys.disabled():
        parts = {name: f"{size / 1e6:.1f} MB" for name, size in held.items()}
        print(f"\n  memory in workerd: {parts}, {sum(held.values()) / 1e6:.1f} MB in all", end="")
    assert sum(held.values()) < MEMORY_LIMIT


def test_vectors_of_concurrent_large_requests_do_not_mix(server: Server) -> None:
    """While a large request pauses, a small one is answered, and neither changes the other."""
    from concurrent.futures import ThreadPoolExecutor

    large = ["many words one after another " * 40] * 600
    (expected_large,) = embed(server, large[:1])
    (expected_small,) = embed(server, ["a small boat"])
    with ThreadPoolExecutor(2) as pool:
        long_one = pool.submit(embed, server, large)
        waits = []
        while not long_one.done():
            began = time.monotonic()
            assert embed(server, ["a small boat"]) == [expected_small]
            waits.append((time.monotonic() - began, long_one.done()))
        assert long_one.result() == [expected_large] * 600
    in_between = [wait for wait, done in waits if not done]
    assert len(in_between) >= 5, "small requests were held up by the large one"


def test_first_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """States the CPU time; that of the thread which runs the Worker is what a request is billed."""
    with workerd(tmp_path) as running:
        assert get(running, "/health").json() == {"status": "ok", "engine": "cold"}
        before, main_before = cpu_seconds(running.pid), cpu_seconds(running.pid, running.pid)
        began = time.monotonic()
        embed(running, ["a small boat"])
        elapsed = time.monotonic() - began
        everything = cpu_seconds(running.pid) - before
        main = cpu_seconds(running.pid, running.pid) - main_before
        assert get(running, "/health").json() == {"status": "ok", "engine": "ready"}
    with capsys.disabled():
        print(
            f"\n  first request in workerd: {main:.2f} s of CPU on the Worker's thread, "
            f"{everything:.2f} s with V8's helpers, {elapsed:.2f} s elapsed",
            end="",
        )


def held_memory(server: Server) -> dict[str, int]:
    """Bytes, by kind, that an observed server holds."""
    address = f"ws://127.0.0.1:{server.inspector_port}/main"
    script = Path(__file__).with_name("heap.mjs")
    done = subprocess.run(
        ["node", str(script), address], capture_output=True, text=True, timeout=60, check=True
    )
    held: dict[str, int] = json.loads(done.stdout)
    memories: dict[str, Any] = get(server, "/probe").json()
    return {**held, "wasm": sum(memories["memories"])}


def cpu_seconds(pid: int, thread: int | None = None) -> float:
    """Seconds of CPU that a process, or one thread of it, has used."""
    stat = Path(f"/proc/{pid}/stat" if thread is None else f"/proc/{pid}/task/{thread}/stat")
    fields = stat.read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
