"""The demo's map, comparison and classification, and that all panels can be used by anyone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import (
    BEST,
    DESKTOP,
    NOTES,
    PASSAGES,
    PHONE,
    QUERY,
    add_files,
    assert_no_sideways_scroll,
    go,
    search,
    status,
    wait_until_ready,
)
from tests.browser.site import ROOT, SITE, Site, missing
from tools.demo_screenshots import PANELS, SCHEMES, SIZES

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def test_compare(demo: Page) -> None:
    go(demo, "Compare")
    score = demo.locator("#similarity")
    demo.get_by_label("First text").fill("A man is playing a guitar.")
    demo.get_by_label("Second text").fill("Someone plays the guitar.")
    expect(demo.locator("#count-b")).to_have_text("7 tokens of at most 128")
    near = float(score.inner_text())
    demo.get_by_label("Second text").fill("The stock market fell today.")
    expect(demo.locator("#similarity-words")).to_contain_text("little to do")
    assert float(score.inner_text()) < 0.25 < 0.7 < near
    expect(demo.locator("#cut-b")).to_be_hidden()
    demo.get_by_label("Second text").fill("word " * 200 + "THE END")
    expect(demo.locator("#count-b")).to_have_text("128 tokens, the most that is read")
    expect(demo.locator("#cut-b")).to_contain_text("Not read: “word word")
    demo.get_by_label("Second text").fill("")
    expect(demo.locator("#similarity-words")).to_have_text("Type two texts.")


def test_classify(demo: Page) -> None:
    go(demo, "Classify")
    demo.get_by_label("Text", exact=True).fill("The soup was cold and the waiter was rude.")
    demo.get_by_label("Labels, one a line").fill(
        "football\n\na restaurant review\nastronomy\nfootball"
    )
    rows = demo.get_by_role("list", name="Labels, best first").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("a restaurant review")
    widths = [row.locator(".bar > span").evaluate("bar => bar.offsetWidth") for row in rows.all()]
    assert widths[0] > widths[1] >= widths[2]
    expect(demo.locator("#classify-result")).to_have_text("Nearest label: a restaurant review")
    expect(demo.locator("#labels-count")).to_have_text("3 labels")
    demo.get_by_label("Labels, one a line").fill("")
    expect(rows).to_have_count(0)


def test_the_map_shows_the_corpus_and_a_query_among_it(demo: Page) -> None:
    go(demo, "Map")
    canvas = demo.locator("#map")
    expect(canvas).to_have_attribute("data-points", str(PASSAGES))
    expect(demo.locator("#map-wait")).to_be_hidden()
    demo.get_by_label("Show on the map").fill(QUERY)
    expect(demo.locator("#map-here")).to_contain_text(BEST)
    expect(canvas).to_have_attribute("data-query", re.compile(r"0\.\d+,0\.\d+"))
    canvas.focus()
    demo.keyboard.press("ArrowDown")
    expect(demo.locator("#map-tip")).to_have_text(BEST)
    demo.keyboard.press("ArrowDown")
    expect(demo.locator("#map-tip")).not_to_have_text(BEST)
    title = demo.locator("#map-tip").inner_text()
    left, top = demo.locator("#map-tip").evaluate("tip => [tip.style.left, tip.style.top]")
    demo.keyboard.press("Enter")
    expect(demo.get_by_role("dialog").get_by_role("heading")).to_contain_text(title)
    demo.keyboard.press("Escape")
    demo.mouse.move(0, 0)
    position: Any = {"x": float(left[:-2]), "y": float(top[:-2])}
    canvas.hover(position=position)
    expect(demo.locator("#map-tip")).to_be_visible()
    hovered = demo.locator("#map-tip").inner_text()
    canvas.click(position=position)
    expect(demo.get_by_role("dialog").get_by_role("heading")).to_contain_text(hovered)


def test_the_map_of_ones_own_files_is_laid_out_here_in_a_worker(demo: Page) -> None:
    workers: list[str] = []
    demo.on("worker", lambda worker: workers.append(worker.url))
    add_files(demo, {"rows.csv": "text\n" + "".join(f"note {i} on boats\n" for i in range(40))})
    expect(status(demo)).to_contain_text("40 passages")
    go(demo, "Map")
    demo.get_by_label("Of", exact=True).select_option("library")
    expect(demo.locator("#map")).to_have_attribute("data-points", "40")
    assert any(url.endswith("/map.worker.js") for url in workers)
    go(demo, "Your files")
    demo.get_by_role("button", name="Remove everything").click()
    expect(demo.locator("#library-list")).to_be_hidden()
    go(demo, "Map")
    expect(demo.locator("#map-wait")).to_contain_text("Nothing is here yet")


def test_a_map_that_is_missing_is_said_to_be(page: Page, site: Site) -> None:
    site.answers["/demo/demo-map.json"] = missing
    page.goto(f"{site.url}demo/#view=map")
    expect(page.locator("#map-wait")).to_contain_text("The map could not be made")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    browser: Browser, site: Site, size: dict[str, Any], scheme: Any
) -> None:
    with browser.new_context(**size, color_scheme=scheme, reduced_motion="reduce") as context:
        page = context.new_page()
        page.goto(f"{site.url}demo/")
        wait_until_ready(page)
        add_files(page, {"notes.md": NOTES, "bad.exe": b"MZ"})
        expect(status(page)).to_contain_text("2 passages")
        page.evaluate(AXE)
        for panel in ("Your files", "Search", "Map", "Compare", "Classify"):
            go(page, panel)
            if panel == "Search":
                search(page, QUERY)
            page.wait_for_timeout(150)
            assert serious(page) == [], panel
            assert_no_sideways_scroll(page)
        go(page, "Search")
        page.locator("#results .hit").first.click()
        assert serious(page) == []


def test_nothing_moves_for_those_who_do_not_want_it(browser: Browser, site: Site) -> None:
    """Where motion is welcome, something does."""
    found = {}
    for motion in ("reduce", "no-preference"):
        with browser.new_context(**DESKTOP, reduced_motion=motion) as context:
            page = context.new_page()
            page.goto(f"{site.url}demo/")
            wait_until_ready(page)
            search(page, QUERY)
            expect(page.locator("#results .best").first).to_be_visible()
            found[motion] = page.evaluate(
                """() => [...document.querySelectorAll("*")].filter((element) => {
                    const { animationName, transitionDuration } = getComputedStyle(element);
                    return animationName !== "none" || transitionDuration !== "0s";
                }).length"""
            )
    assert found["reduce"] == 0
    assert found["no-preference"] > 0


def test_panels_on_a_phone(browser: Browser, site: Site) -> None:
    with browser.new_context(**PHONE) as context:
        page = context.new_page()
        page.goto(f"{site.url}demo/")
        wait_until_ready(page)
        page.get_by_role("navigation").get_by_role("link", name="Compare").tap()
        page.get_by_label("Second text").fill("Someone plays the guitar. " * 60)
        expect(page.locator("#cut-b")).to_contain_text("Not read")
        assert_no_sideways_scroll(page)
        page.get_by_role("navigation").get_by_role("link", name="Classify").tap()
        page.get_by_label("Labels, one a line").fill("a-label-that-is-one-long-word-" * 4 + "\npay")
        expect(page.locator("#scores li")).to_have_count(2)
        bar = page.locator("#scores .bar").first.bounding_box()
        assert bar is not None
        assert bar["width"] > 200  # not squeezed beside the label
        assert_no_sideways_scroll(page)
        page.get_by_role("navigation").get_by_role("link", name="Map").tap()
        canvas = page.locator("#map")
        expect(canvas).to_have_attribute("data-points", str(PASSAGES))
        page.get_by_label("Show on the map").fill(QUERY)
        expect(page.locator("#map-here")).to_contain_text(BEST)
        place = canvas.get_attribute("data-query") or ""
        x, y = (float(part) for part in place.split(","))
        box = canvas.bounding_box()
        assert box is not None
        padding = 14
        position: Any = {
            "x": padding + x * (box["width"] - 2 * padding),
            "y": padding + y * (box["height"] - 2 * padding),
        }
        canvas.tap(position=position)
        expect(page.get_by_role("dialog")).to_be_visible()
        assert_no_sideways_scroll(page)
        page.get_by_role("button", name="Close").tap()
        for link in page.get_by_role("navigation").get_by_role("link").all():
            size = link.bounding_box()
            assert size is not None
            assert size["height"] >= 44


def test_every_panel_has_its_screenshots() -> None:
    wanted = {
        f"{panel}-{width}-{scheme}.png": size["viewport"]
        for panel in PANELS
        for width, size in SIZES.items()
        for scheme in SCHEMES
    }
    found = {path.name: path for path in (ROOT / "docs/screenshots").iterdir()}
    assert set(found) == set(wanted)
    for name, path in found.items():
        with Image.open(path) as picture:
            width, height = picture.size
        assert width / height == wanted[name]["width"] / wanted[name]["height"]
    page = (SITE / "demo/index.html").read_text("utf-8")
    assert set(re.findall(r'data-view="(\w+)"', page)) <= set(PANELS)


def serious(page: Page) -> list[Any]:
    """Serious and critical violations, as rule and elements."""
    found: list[Any] = page.evaluate(
        """async () => {
            const {violations} = await axe.run(document, {resultTypes: ["violations"]});
            return violations.filter(({impact}) => ["serious", "critical"].includes(impact))
                .map(({id, nodes}) => [id, nodes.map(({html}) => html.slice(0, 120))]);
        }"""
    )
    return found
