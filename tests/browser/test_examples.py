"""What the documentation shows for pages, as written, in a page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import ROOT, Site, content

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGE_README = ROOT / "web" / "README.md"


def snippets(page: Path, language: str) -> list[str]:
    text = page.read_text("utf-8")
    return [body for found, body in FENCE.findall(text) if found == language]


def package_snippets() -> list[str]:
    return [body for body in snippets(PACKAGE_README, "js") if "await load(" in body]


def test_the_packages_readme_has_snippets() -> None:
    assert len(package_snippets()) == 3


@pytest.mark.parametrize("snippet", package_snippets(), ids=["embed", "worker", "search"])
def test_js_of_the_packages_readme(page: Page, site: Site, snippet: str) -> None:
    """In a page without a bundler, whose import map stands for the package's names."""
    names = '{"imports": {"tern-engine": "./tern-engine.js", "tern-engine/search": "./search.js"}}'
    document = (
        f"<!doctype html><script type=importmap>{names}</script>"
        f"<script type=module>{snippet}\ndocument.title = 'done';</script>"
    )
    site.answers["/page.html"] = content(document.encode(), "text/html")
    logged: list[str] = []
    page.on("console", lambda m: logged.append(m.text) if m.type == "log" else None)
    page.goto(f"{site.url}page.html")
    page.wait_for_function("document.title === 'done'")
    (last,) = logged
    if "SearchIndex" in snippet:
        assert last == "1"
    elif "embedBatch" in snippet:
        assert last in ("2 1", "2 2")
    else:
        assert 0.2 < float(last) < 1


def test_a_pyodide_of_the_users_own(page: Page, site: Site) -> None:
    page.goto(f"{site.url}examples/pyodide.html")
    expect(page.get_by_role("status")).to_have_text("Done.")
    lines = page.locator("#output").inner_text().splitlines()
    assert len(lines) == 3
    assert lines[0].endswith("refund policy for cancelled trains")
    scores = [float(line.split()[0]) for line in lines]
    assert scores == sorted(scores, reverse=True)
    # The wheel stands for itself: nothing of the shim's files is asked for.
    assert not any(path.startswith("/files/") for path in site.requests)
