"""The page at "/" in Chromium: its box works, wide and narrow, nothing is blocked or overflows."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.worker.servers import Server, workerd


@pytest.mark.parametrize("width", [1280, 390])
def test_the_box_ranks_by_meaning(server: Server, browser: Browser, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(server.url)
    page.get_by_label("Among these, one a line").fill(
        "a recipe for soup\na hotel\n\na bed for a night"
    )
    page.get_by_label("What are you looking for?").fill("a place to sleep")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results li")
    rows = page.locator("#results li span:first-of-type").all_inner_texts()
    assert sorted(rows) == ["a bed for a night", "a hotel", "a recipe for soup"]
    assert rows[2] == "a recipe for soup"
    assert page.locator("#status").inner_text().startswith("3 texts in ")
    assert server.url in page.locator("#curl").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert complaints == []
    page.close()


def test_a_key_that_is_asked_for(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with workerd(tmp_path_factory.mktemp("page"), {"API_KEY": "k"}) as closed:
        page = browser.new_page()
        page.goto(closed.url)
        button = page.get_by_role("button", name="Rank by meaning")
        button.click()
        expect(page.locator("#status")).to_contain_text("Bearer")
        page.get_by_label("Key", exact=True).fill("k")
        button.click()
        page.wait_for_selector("#results li")
        page.close()
