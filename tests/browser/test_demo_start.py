"""The demo page as it starts: slowly, cancelled, without its files, on a phone."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import (
    BEST,
    DESKTOP,
    LONGEST_TASK,
    PASSAGES,
    PHONE,
    QUERY,
    assert_no_sideways_scroll,
    field,
    first_with,
    search,
    traced,
    wait_until_ready,
    words,
)
from tests.browser.site import SITE, Site, content, file_path, missing, stalled


def test_a_query_typed_while_the_engine_loads_is_answered_by_meaning(
    page: Page, site: Site
) -> None:
    body = (SITE / file_path("model")[1:]).read_bytes()
    site.answers[file_path("model")] = stalled(body[:1_000_000], len(body))
    page.goto(f"{site.url}demo/")
    expect(page.locator("#engine-text")).to_contain_text(re.compile(r"\d+\.\d of \d\d\.\d MB"))
    expect(page.get_by_role("progressbar")).to_be_visible()
    search(page, "piano keys")  # by keyword, which needs no engine
    expect(page.locator("#results")).to_have_attribute("data-mode", "keyword")
    first_with(page, BEST)
    expect(page.locator("#count")).to_contain_text("by keyword, until the engine is ready")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#engine-text")).to_contain_text("cancelled")
    search(page, QUERY)
    del site.answers[file_path("model")]
    page.get_by_role("button", name="Load again").click()
    wait_until_ready(page)
    expect(page.locator("#results")).to_have_attribute("data-mode", "meaning")
    expect(words(page).first).to_have_text(BEST)
    scores = [float(text) for text in page.locator("#results .value").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert 0.5 < scores[0] <= 1
    assert len(scores) == 24
    expect(page.get_by_role("status").filter(has_text="nearest")).to_contain_text(
        f"24 nearest of {PASSAGES:,} passages"
    )


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_start_never_holds_up_the_page(
    browser: Browser, site: Site, size: dict[str, Any]
) -> None:
    """From navigation to the first results by meaning, and to the map of all passages."""
    with browser.new_context(**size) as context:
        page = context.new_page()
        with traced(page) as tasks:
            page.goto(f"{site.url}demo/")
            field(page).press_sequentially(QUERY)
            wait_until_ready(page)
            expect(page.locator("#results")).to_have_attribute("data-mode", "meaning")
            expect(page.locator("#results .best").first).to_be_visible()
        assert tasks["count"] > 200
        assert tasks["longest"] < LONGEST_TASK
        page.goto("about:blank")
        with traced(page) as tasks:
            page.goto(f"{site.url}demo/#view=map&q={QUERY.replace(' ', '+')}")
            wait_until_ready(page)
            expect(page.locator("#map-here")).to_contain_text(BEST)
        assert tasks["count"] > 100
        assert tasks["longest"] < LONGEST_TASK


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_jumps_while_the_engine_loads(
    browser: Browser, site: Site, size: dict[str, Any]
) -> None:
    """What is under a finger stays there."""
    with browser.new_context(**size) as context:
        page = context.new_page()
        page.goto(f"{site.url}demo/")
        wait_until_ready(page)
        page.wait_for_timeout(200)
        shifts = page.evaluate(
            """() => new Promise((resolve) => {
                const observer = new PerformanceObserver((list) => {
                    resolve(list.getEntries().map(({value, sources}) => [
                        value, sources.map(({node}) => node?.id || String(node?.textContent)),
                    ]));
                });
                observer.observe({type: "layout-shift", buffered: true});
                setTimeout(resolve, 500, []);
            })"""
        )
        assert sum(value for value, _ in shifts) < 0.02, shifts


@pytest.mark.parametrize(
    ("answer", "code"),
    [(missing, "LOAD_HTTP"), (content(b"<!doctype html>", "text/html"), "LOAD_CONTENT")],
)
def test_a_model_that_is_not_there(page: Page, site: Site, answer: Any, code: str) -> None:
    site.answers[file_path("model")] = answer
    page.goto(f"{site.url}demo/")
    panel = page.get_by_role("region", name="Engine")
    expect(panel).to_have_attribute("data-state", "failed")
    expect(panel).to_contain_text("not where this page expects it")
    expect(panel).to_contain_text(code)
    if code == "LOAD_HTTP":
        return
    del site.answers[file_path("model")]
    page.get_by_role("button", name="Load again").click()
    wait_until_ready(page)
    field(page).fill(QUERY)
    expect(words(page).first).to_have_text(BEST)


def test_a_model_that_is_no_model(page: Page, site: Site) -> None:
    page.goto(f"{site.url}demo/?model=..{file_path('kernels')}")
    panel = page.get_by_role("region", name="Engine")
    expect(panel).to_contain_text("MODEL_MAGIC")
    expect(page.get_by_role("button", name="Load again")).to_be_visible()


def test_an_encyclopedia_of_another_model_is_embedded_by_this_one(page: Page, site: Site) -> None:
    """And where there is none, everything else works."""
    page.goto(f"{site.url}blank.html")
    other = page.evaluate(
        """async () => {
            const {SearchIndex} = await import("/search.js");
            const index = new SearchIndex({
                dim: 384, fingerprint: "ab".repeat(32), maxSeqLen: 128,
                tokenCount: () => ({tokens: 9, truncated: false}),
                embedBatch: (texts) => texts.map(() => Float32Array.of(1, ...Array(383).fill(0))),
            });
            const text = ["The piano has keys. It is played.", "A volcano erupts. Lava flows."];
            await index.add(text.map((text, i) => ({
                id: String(i), text, title: ["Piano", "Volcano"][i], meta: {topic: "T", about: "A"},
            })));
            return Array.from(await index.save());
        }"""
    )
    path = "/demo/demo-index.bin"
    site.answers[path] = content(bytes(other), "application/octet-stream")
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    search(page, "hot liquid rock")
    expect(words(page)).to_have_text(["Volcano", "Piano"])
    expect(page.locator("#results")).to_have_attribute("data-mode", "meaning")
    site.answers[path] = missing
    page.reload()
    wait_until_ready(page)
    expect(page.locator("#engine")).to_contain_text("without the encyclopedia")
    page.get_by_role("link", name="Compare").click()
    expect(page.locator("#similarity")).to_have_text(re.compile(r"0\.\d\d"))


def test_the_stored_index_is_what_the_browser_makes_bit_for_bit(page: Page, site: Site) -> None:
    page.goto(f"{site.url}blank.html")
    wrong = page.evaluate(
        """async () => {
            const {load} = await import("/tern-engine.js");
            const {SearchIndex} = await import("/search.js");
            const engine = await load();
            const file = await (await fetch("/demo/demo-index.bin")).arrayBuffer();
            const stored = await SearchIndex.load(engine, file);
            const again = new SearchIndex(engine, {vectors: "int8"});
            await again.add(Array.from(stored.documents()).slice(0, 300));
            const bytes = new Uint8Array(await again.save());
            const vectors = (bytes) => {
                const view = new DataView(bytes.buffer);
                const [n, p] = [view.getUint32(56, true), view.getUint32(60, true)];
                const scales = 64 + 8 * n + 8 * p;
                const rows = bytes.subarray(scales + 4 * p);
                return [bytes.subarray(scales, scales + 1200), rows.subarray(0, 300 * 384)];
            };
            const [found, kept] = [vectors(bytes), vectors(new Uint8Array(file))];
            return found.map((part, i) => part.filter((x, j) => x !== kept[i][j]).length);
        }"""
    )
    assert wrong == [0, 0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(browser: Browser, site: Site, scheme: Any) -> None:
    with browser.new_context(**PHONE, color_scheme=scheme) as context:
        page = context.new_page()
        site.answers[file_path("model")] = missing
        page.goto(f"{site.url}demo/")
        assert_no_sideways_scroll(page)
        expect(page.locator("#engine")).to_have_attribute("data-state", "failed")
        assert_no_sideways_scroll(page)
        del site.answers[file_path("model")]
        page.get_by_role("button", name="Load again").tap()
        field(page).fill(QUERY)
        wait_until_ready(page)
        expect(words(page).first).to_have_text(BEST)
        assert_no_sideways_scroll(page)
        expect(words(page).first).to_be_in_viewport()  # results need no scrolling to be seen
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        lightness = sum(int(part) for part in re.findall(r"\d+", paper)[:3]) / 3
        assert (lightness < 64) == (scheme == "dark")
