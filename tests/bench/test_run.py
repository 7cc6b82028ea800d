"""One quick run of the real thing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from bench import browser, judge, memory, run, site
from tests.bench.shared import SIZES, built_site

Result = TypeVar("Result")


def in_a_thread(work: Callable[[], Result]) -> Result:
    """Playwright's sync API starts once a thread, and the tests of pages hold this one's."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def test_a_quick_run_measures_every_engine_on_every_host(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    built_site()
    figures = tmp_path / "figures.json"
    assert in_a_thread(lambda: run.main(["--quick", "--json", str(figures)])) == 0
    document = json.loads(figures.read_text("utf-8"))
    rows = document["rows"]
    wide = {("tern", 256), ("tern", 384), ("obvious-simd", 256), ("obvious-simd", 384)}
    peers = {
        "node": "minilm-q8-wasm",
        "chromium": "minilm-q8-wasm",
        "cpython": "minilm-q8-native",
    }
    assert {(row["host"], row["engine"], row["dim"], row["tokens"]) for row in rows} == {
        (host, engine, dim, tokens)
        for host, peer_engine in peers.items()
        for engine, dim in {*wide, (peer_engine, 384)}
        for tokens in SIZES
    }
    assert all(math.isfinite(row["ms"]) and row["ms"] > 0 for row in rows)
    assert {(c["host"], c["engine"], c["visit"]) for c in document["cold"]} == {
        *(("chromium", e, v) for e in ("tern", "minilm-q8-wasm") for v in ("first", "second")),
        *(("node", e, "first") for e in ("tern", "minilm-q8-wasm")),
        ("cpython", "tern", "first"),
    }
    assert all(math.isfinite(c["ms"]) and c["ms"] > 0 for c in document["cold"])
    sizes = document["bytes"]
    assert {"model-int4.bin", "pyodide.asm.wasm", "kernels-int4.wasm", "shim"} <= set(sizes)
    for kind in ("raw", "gzip", "brotli", "zstd"):
        assert sizes["total"][kind] == sum(
            size[kind] for name, size in sizes.items() if name != "total"
        )
    printed = capsys.readouterr().out
    for part in (
        "obvious-simd d 384 / tern d 384",
        "obvious-simd reaches",
        "obvious-simd, d 256, against the reference: least cosine",
        "| chromium, demo ",
        "| chromium, an empty page ",
        "The Python package: import ",
        "of the time is spent outside kernels.wasm",
        "a pool of two workers",
        "too few texts",
    ):
        assert part in printed
    # CPython and Node by processor time; Node and Chromium by the clock, in a worker and without.
    for way, hosts in (("processor time", 2), ("the calling thread", 2), ("a worker, by", 2)):
        assert len(re.findall(rf"^\| \w+ +\| +{way}.*ms \|.*×", printed, re.MULTILINE)) == hosts
    if memory.PROC.exists():
        assert "The model's table lies in it 1 time." in printed
        one, two = re.search(r"(\d+) MB with 1, (\d+) MB with 2\.", printed).groups()  # type: ignore[union-attr]
        assert 20 < int(one) < int(two), "each worker has a model and an interpreter of its own"


def test_pages_tell_their_errors(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<script>throw new Error('no engine here')</script>")

    def visit() -> None:
        with site.served(tmp_path) as address, browser.started() as chrome:
            chrome.outcome(f"{address}page.html")

    with pytest.raises(judge.BenchError, match="no engine here"):
        in_a_thread(visit)


@pytest.mark.parametrize(
    "options",
    [["--quick", "--write-results"], ["--cold", "--write-results"], ["--cold", "--json=x"]],
)
def test_a_run_of_a_part_leaves_no_results(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        run.main(options)
    assert stop.value.code == 2
    assert "run" in capsys.readouterr().err


def test_cold_starts_can_be_had_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def starts(effort: run.Effort, findings: run.Findings, address: str) -> None:
        assert effort is run.FULL
        findings.cold = {("chromium", "tern", "first", ""): 700.0}
        findings.sizes = {"total": (4, 3, 2, 1)}

    monkeypatch.setattr(site, "assemble", lambda *parts: None)
    monkeypatch.setattr(site, "folder", lambda: tmp_path)
    monkeypatch.setattr(run, "race", lambda *parts: pytest.fail("a race"))
    monkeypatch.setattr(run, "starts", starts)
    assert run.main(["--cold"]) == 0
    printed = capsys.readouterr().out
    assert "| chromium, tern | local | 700 ms |" in printed
    assert "zstd" in printed
    assert "One text" not in printed
