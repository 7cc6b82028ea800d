"""For each test a site of its own and an empty page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import wait_until_ready
from tests.browser.site import ROOT, SITE, Site, running_site

expect.set_options(timeout=60_000)  # a page that loads beside other work


@pytest.fixture
def site() -> Iterator[Site]:
    assert (SITE / "manifest.json").exists(), "run python3 build.py web first"
    with running_site() as site:
        yield site


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A desktop page; an exception that nothing catches fails the test."""
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
        assert errors == []


@pytest.fixture
def demo(page: Page, site: Site) -> Page:
    """The demo, ready, in a visit of its own."""
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    return page


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / "tests/golden/vectors.json").read_text("utf-8"))
    return content


@pytest.fixture(scope="session")
def manifest() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((SITE / "manifest.json").read_text("utf-8"))
    return content
