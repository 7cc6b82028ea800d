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
    assert len(package_snippets()) == 4


@pytest.mark.parametrize("snippet", package_snippets(), ids=["embed", "worker", "search", "store"])
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
    if "openIndexStore" in snippet:
        page.reload()  # what was saved is found, and nothing is embedded again
        page.wait_for_function("document.title === 'done'")
        assert logged.pop() == "1"
    (last,) = logged
    if "SearchIndex" in snippet:
        assert last == "1"
    elif "embedBatch" in snippet:
        assert last in ("2 1", "2 2")
    else:
        assert 0.2 < float(last) < 1


def test_the_packages_readme_names_everything() -> None:
    """Each export, each option and each error code that a page can meet."""
    text = PACKAGE_README.read_text("utf-8")
    names: set[str] = set()
    for file in ("tern-engine.d.ts", "search.d.ts"):
        types = (ROOT / "web" / file).read_text("utf-8")
        names |= set(re.findall(r"^export (?:class|function|const) (\w+)", types, re.M))
        for name in ("LoadOptions", "WorkerOptions", "IndexOptions", "AddOptions", "QueryOptions"):
            body = re.search(rf"^export interface {name} {{\n(.*?)^}}", types, re.M | re.S)
            names |= set(re.findall(r"^  (\w+)\??:", body[1], re.M)) if body else set()
        for body in re.findall(r"^export class \w+ {\n(.*?)^}", types, re.M | re.S):
            members = r"^  (?:static |get |readonly )*(\w+)(?=[(:<?])"
            names |= set(re.findall(members, body, re.M))
    missing = names - set(re.findall(r"\w+", text)) - {"constructor", "code", "vectors"}
    assert missing == set()
    listed = (ROOT / "web" / "errors-list.js").read_text("utf-8")
    codes = set(re.findall(r"^  ([A-Z_]+):", listed, re.M))
    only_in_python = {"BUILD_CONFLICT", "BUILD_MISSING"}
    wanted = {code for code in codes if not code.startswith("MODEL_")} - only_in_python
    assert set(re.findall(r"`([A-Z]+_[A-Z_]+|ABORTED|DIMENSION|DISPOSED)`", text)) - {
        "ERROR_CODES", "RRF_K", "RRF_DEPTH"
    } == wanted  # fmt: skip


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
