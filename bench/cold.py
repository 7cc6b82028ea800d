"""Cold starts: from nothing to the first vector, and what a page that has it weighs.

In Chromium from navigation, with an empty profile for each first visit; the second visit is
another page of the same browser, whose caches are then full. In Node and CPython from the start of
a process.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import browser, hosts, memory, peer, site
from .browser import Line

VISITS = ("first", "second")
# Chromium writes its caches when it finds time.
BETWEEN_VISITS_S = 3
SLOW_LINE = Line(50, 20)
POOLS = (1, 2)
QUERY = "longing for the past"

PAGES = {
    "tern": "tern.html",
    "tern, no snapshot": "tern.html?base=/bench/plain/",
    "minilm-q8-wasm": "transformers.html",
    "minilm-q8-wasm, lean runtime": "transformers.html?lean",
    "an empty page": "empty.html",
}


@dataclass(frozen=True)
class Start:
    """Milliseconds of one start. `line` is "" for the local server."""

    host: str
    engine: str
    visit: str
    line: str
    ms: float


def chromium(address: str, engines: Sequence[str], repeats: int, line: Line | None) -> list[Start]:
    """Both visits of each engine, taking turns."""
    name = "" if line is None else f"{line.mbit:.0f} Mbit/s, {line.delay_ms:.0f} ms"
    starts = []
    for _ in range(repeats):
        for engine in engines:
            with browser.started() as chrome:
                for visit in VISITS:
                    outcome = chrome.outcome(f"{address}bench/pages/{PAGES[engine]}", line)
                    starts.append(Start("chromium", engine, visit, name, outcome["ms"]))
                    if visit != VISITS[-1]:
                        time.sleep(BETWEEN_VISITS_S)
    return starts


def demo(address: str, repeats: int) -> list[Start]:
    """The demo page: from navigation to the results of a query that was typed at once."""
    starts = []
    wanted = f"document.querySelector('#results[data-query={json.dumps(QUERY)}] .word')"
    for _ in range(repeats):
        with browser.started() as chrome:
            page = chrome.open()
            page.goto(f"{address}demo/", wait_until="domcontentloaded")
            page.get_by_label("What are you looking for?").fill(QUERY)
            found = page.wait_for_function(f"{wanted} && performance.now()")
            starts.append(Start("chromium", "demo", "first", "", float(found.json_value())))
    return starts


def node(repeats: int) -> list[Start]:
    starts = []
    contenders = {
        "tern": ["tern", (site.SITE / "tern-engine.js").as_uri()],
        "minilm-q8-wasm": ["minilm", str(peer.model())],
    }
    script = Path(__file__).with_name("js") / "cold-node.mjs"
    for _ in range(repeats):
        for engine, arguments in contenders.items():
            found = _printed(["node", str(script), *arguments])
            starts.append(Start("node", engine, "first", "", found["ms"]))
    return starts


def cpython(repeats: int) -> tuple[list[Start], dict[str, float]]:
    """The starts, and the median milliseconds of their parts."""
    runs = [_printed([sys.executable, "-m", "bench.python_cold"]) for _ in range(repeats)]
    starts = [Start("cpython", "tern", "first", "", run["ms"]) for run in runs]
    return starts, {part: statistics.median(run[part] for run in runs) for part in runs[0]}


def medians(starts: Sequence[Start]) -> dict[tuple[str, str, str, str], float]:
    """(host, engine, visit, line) → milliseconds, in the order of the starts."""
    grouped: dict[tuple[str, str, str, str], list[float]] = {}
    for start in starts:
        key = (start.host, start.engine, start.visit, start.line)
        grouped.setdefault(key, []).append(start.ms)
    return {key: statistics.median(ms) for key, ms in grouped.items()}


def wire(address: str, folder: Path, engine: str) -> dict[str, Path]:
    """URL path → file, of everything that a page fetches up to the first vector."""
    paths: list[str] = []
    with browser.started() as chrome:
        page = chrome.open()
        page.on("request", lambda request: paths.append(request.url))
        page.goto(f"{address}bench/pages/{PAGES[engine]}")
        page.wait_for_function(browser.DONE)
    names = {url.removeprefix(address) for url in paths if url.startswith(address)}
    return {name: folder / name for name in sorted(names) if not name.startswith("bench/")}


def idle_page(address: str, folder: Path) -> memory.Weight:
    """What a page weighs that has the engine and does nothing, beyond an empty page: the engine in
    the page itself, and in one worker and in two."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    model = (folder / manifest["files"]["model"]["path"]).read_bytes()
    empty, _ = _idle(f"{address}bench/pages/{PAGES['an empty page']}", model)
    private, copies = _idle(f"{address}bench/pages/{PAGES['tern']}", model)
    pools = {n: _idle(f"{address}bench/pages/worker.html?pool={n}", model) for n in POOLS}
    return memory.Weight(private, empty, {n: held for n, (held, _) in pools.items()}, copies)


def _idle(url: str, model: bytes) -> tuple[int, int]:
    """A page's private bytes, and how often the model's table lies in its process."""
    with browser.started() as chrome:
        page = chrome.open()
        page.goto(url)
        page.wait_for_function(browser.DONE)
        session = chrome.browser_session(page)
        for _ in range(2):
            session.send("HeapProfiler.collectGarbage")
            time.sleep(1)
        process = memory.largest_renderer()
        return memory.private_bytes(process), memory.copies(process, model)


def _printed(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(
        command,
        check=True,
        capture_output=True,
        text=True,
        cwd=peer.ROOT,
        env=hosts.environment(),
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
