"""Pyodide in a page: the site's own, whose stacks stay as they are, and one that users have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.site import Site

# Chromium's tabs crash now and then where Pyodide runs coroutines on stacks of their own
# (pyodide/pyodide issues 5702 and 6106): a page of these tests did, in one of hundreds of runs.
ONE_STACK = "delete WebAssembly.Suspending"

# Counts the functions made that run on another stack, and their calls.
COUNT_SWITCHES = """
    const {promising} = WebAssembly;
    self.switches = {made: 0, called: 0};
    WebAssembly.promising = (run) => {
        const inner = promising(run);
        self.switches.made += 1;
        return (...values) => {
            self.switches.called += 1;
            return inner(...values);
        };
    };
"""

EMBED = """async (texts) => {
    const {load} = await import("/tern-engine.js");
    const engine = await load();
    for (const text of texts) engine.embed(text);
    engine.embedBatch(texts);
    for (const text of texts) engine.tokenize(text);
    engine.dispose();
    return self.switches;
}"""

PACKAGE = """async ({how, wheel}) => {
    const {loadPyodide} = await import("/pyodide/pyodide.mjs");
    const python = await loadPyodide();
    if (how === "loadPackage") {
        await python.loadPackage("tern-engine-emb-int4");
    } else {
        await python.loadPackage("micropip");
        await python.pyimport("micropip").install(new URL(wheel, location).href);
    }
    const vector = python.pyimport("tern_engine").embed("hi");
    return {kind: vector.type, length: vector.length,
            numpy: python.runPython("import sys; 'numpy' in sys.modules")};
}"""


def test_the_engine_never_switches_stacks(page: Page, site: Site, golden: dict[str, Any]) -> None:
    page.add_init_script(COUNT_SWITCHES)
    page.goto(f"{site.url}blank.html")
    switches = page.evaluate(EMBED, golden["texts"][:50])
    assert switches["made"] > 0, "Pyodide makes them before this can count"
    assert switches["called"] == 0


@pytest.mark.parametrize("how", ["loadPackage", "micropip"])
def test_the_wheel_in_a_pyodide_of_the_users_own(
    page: Page, site: Site, manifest: dict[str, Any], how: str
) -> None:
    page.add_init_script(ONE_STACK)
    page.goto(f"{site.url}blank.html")
    wheel = f"/{manifest['files']['wheel']['path']}"
    found = page.evaluate(PACKAGE, {"how": how, "wheel": wheel})
    assert found == {"kind": "array.array", "length": 384, "numpy": False}
    assert Path(wheel).name.endswith("-py3-none-any.whl")
