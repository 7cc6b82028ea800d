"""The demo page, used as a person would: typed into, cancelled, broken, on a phone."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.site import ROOT, SITE, Site, content, file_path, missing, stalled

QUERY = "longing for the past"
BEST = "nostalgia"


@pytest.fixture
def demo(page: Page, site: Site) -> Page:
    page.goto(f"{site.url}demo/")
    return page


def field(page: Page) -> Locator:
    return page.get_by_label("What are you looking for?")


def words(page: Page) -> Locator:
    return page.locator("#results .word")


def wait_until_ready(page: Page) -> None:
    expect(page.locator("#engine")).to_have_attribute("data-state", "ready")


def wait_for_results_of(page: Page, query: str) -> None:
    expect(page.locator("#results")).to_have_attribute("data-query", query)


def assert_no_sideways_scroll(page: Page) -> None:
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner


def test_a_sentence_typed_while_the_engine_loads_ranks_the_corpus_by_meaning(demo: Page) -> None:
    field(demo).press_sequentially(QUERY)
    expect(words(demo).first).to_have_text(BEST)
    wait_for_results_of(demo, QUERY)
    scores = [float(text) for text in demo.locator("#results .value").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    assert 0.5 < scores[0] <= 1
    assert len(scores) == 24
    expect(demo.get_by_role("status").filter(has_text="nearest")).to_contain_text(
        re.compile(r"24 nearest of 2,9\d\d concepts")
    )


def test_sensible_top_results(demo: Page) -> None:
    wait_until_ready(demo)
    for query, word in (
        ("someone who plays the piano", "pianist"),
        ("the first meal of the day", "breakfast"),
        ("to laugh quietly", "chuckle"),
        ("the sadness of losing a loved one", "grief"),
    ):
        field(demo).fill(query)
        wait_for_results_of(demo, query)
        assert word in words(demo).all_inner_texts()[:3]


def test_the_latest_query_wins(demo: Page) -> None:
    wait_until_ready(demo)
    for text in ("a river of ice", "where planes land", "to laugh", QUERY):
        field(demo).fill(text)
    wait_for_results_of(demo, QUERY)
    expect(words(demo).first).to_have_text(BEST)


def test_examples_and_words_are_buttons_that_search(demo: Page) -> None:
    demo.get_by_role("button", name=QUERY).click()
    expect(field(demo)).to_have_value(QUERY)
    expect(words(demo).first).to_have_text(BEST)
    words(demo).first.click()
    expect(field(demo)).to_have_value("longing for something past")
    wait_for_results_of(demo, "longing for something past")


def test_keyboard(demo: Page) -> None:
    wait_until_ready(demo)
    expect(field(demo)).to_be_focused()
    demo.keyboard.type(QUERY)
    demo.keyboard.press("Enter")
    expect(words(demo).first).to_have_text(BEST)
    for _ in range(6):  # past the five examples
        demo.keyboard.press("Tab")
    expect(words(demo).first).to_be_focused()
    outline = words(demo).first.evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    demo.keyboard.press("/")
    expect(field(demo)).to_be_focused()
    demo.keyboard.press("Escape")
    expect(field(demo)).to_have_value("")
    expect(words(demo)).to_have_count(0)


def test_progress_then_cancel_then_load_again(page: Page, site: Site) -> None:
    body = (SITE / file_path("model")[1:]).read_bytes()
    site.answers[file_path("model")] = stalled(body[:1_000_000], len(body))
    page.goto(f"{site.url}demo/")
    expect(page.locator("#engine-text")).to_contain_text(re.compile(r"\d+\.\d of 19\.\d MB"))
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#engine-text")).to_contain_text("cancelled")
    field(page).fill(QUERY)
    expect(page.locator("#empty")).to_have_text("The engine is not loaded.")
    del site.answers[file_path("model")]
    page.get_by_role("button", name="Load again").click()
    expect(words(page).first).to_have_text(BEST)


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


def test_without_stored_vectors_the_page_embeds_the_corpus_itself(page: Page, site: Site) -> None:
    site.answers["/demo/demo-vectors.bin"] = missing
    page.goto(f"{site.url}demo/")
    field(page).fill(QUERY)
    expect(words(page).first).to_have_text(BEST)


def test_stored_vectors_are_the_browsers_own_bit_for_bit(page: Page, site: Site) -> None:
    page.goto(f"{site.url}blank.html")
    wrong = page.evaluate(
        """async () => {
            const {load} = await import("/tern-engine.js");
            const {entryText, readCorpus} = await import("/demo/corpus.js");
            const engine = await load();
            const corpus = readCorpus(await (await fetch("/demo/demo-corpus.json")).json());
            const file = await (await fetch("/demo/demo-vectors.bin")).arrayBuffer();
            const stored = new Uint32Array(file, 80);
            const found = engine.embedBatch(corpus.slice(0, 400).map(entryText));
            return found.filter((vector, row) => {
                const bits = new Uint32Array(vector.buffer);
                return bits.some((x, i) => x !== stored[row * engine.dim + i]);
            }).length;
        }"""
    )
    assert wrong == 0
    corpus = json.loads((ROOT / "assets/demo-corpus.json").read_text("utf-8"))
    stored = (SITE / "demo/demo-vectors.bin").read_bytes()
    assert struct.unpack_from("<II", stored, 72) == (len(corpus["entries"]), 384)


def test_nothing_leaves_the_page(demo: Page, site: Site) -> None:
    urls: list[str] = []
    demo.context.on("request", lambda request: urls.append(request.url))
    wait_until_ready(demo)
    demo.wait_for_load_state("networkidle")
    served = len(site.requests)
    for text in (QUERY, "a house for a king", "to walk slowly"):
        field(demo).fill(text)
        wait_for_results_of(demo, text)
    assert len(site.requests) == served
    assert all(url.startswith((site.url, "data:", "blob:")) for url in urls)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(browser: Browser, site: Site, scheme: Any) -> None:
    with browser.new_context(
        viewport={"width": 390, "height": 844},
        device_scale_factor=2,
        is_mobile=True,
        has_touch=True,
        color_scheme=scheme,
    ) as context:
        page = context.new_page()
        site.answers[file_path("model")] = missing
        page.goto(f"{site.url}demo/")
        assert_no_sideways_scroll(page)
        expect(page.locator("#engine")).to_have_attribute("data-state", "failed")
        assert_no_sideways_scroll(page)
        del site.answers[file_path("model")]
        page.get_by_role("button", name="Load again").tap()
        field(page).fill(QUERY)
        expect(words(page).first).to_have_text(BEST)
        assert_no_sideways_scroll(page)
        expect(words(page).first).to_be_in_viewport()  # results need no scrolling to be seen
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        lightness = sum(int(part) for part in re.findall(r"\d+", paper)[:3]) / 3
        assert (lightness < 64) == (scheme == "dark")


def test_every_control_has_a_name_and_every_region_a_label(demo: Page) -> None:
    wait_until_ready(demo)
    field(demo).fill(QUERY)
    wait_for_results_of(demo, QUERY)
    for button in demo.get_by_role("button").all():
        assert button.inner_text().strip()
    expect(demo.get_by_role("search")).to_be_visible()
    results = demo.get_by_role("list", name="Nearest in meaning")
    expect(results.get_by_role("listitem")).to_have_count(24)
    expect(demo.get_by_role("heading", level=1)).to_have_count(1)
    assert demo.locator("html").get_attribute("lang") == "en"
