"""The demo page, used as a person would: typed into, cancelled, broken, on a phone."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import (
    BEST,
    PHONE,
    QUERY,
    assert_no_sideways_scroll,
    field,
    search,
    wait_for_results_of,
    wait_until_ready,
    words,
)
from tests.browser.site import ROOT, SITE, Site, content, file_path, missing, stalled


@pytest.fixture
def demo(page: Page, site: Site) -> Page:
    page.goto(f"{site.url}demo/")
    return page


def test_a_sentence_typed_while_the_engine_loads_ranks_the_corpus_by_meaning(demo: Page) -> None:
    field(demo).press_sequentially(QUERY)
    expect(demo.locator("#count")).to_contain_text("24 nearest")
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


def test_examples_are_buttons_that_search(demo: Page) -> None:
    demo.get_by_role("button", name=QUERY, exact=True).click()
    expect(field(demo)).to_have_value(QUERY)
    expect(words(demo).first).to_have_text(BEST)


def test_keyboard_all_the_way(demo: Page) -> None:
    wait_until_ready(demo)
    expect(field(demo)).to_be_focused()
    demo.keyboard.type(QUERY)
    wait_for_results_of(demo, QUERY)
    expect(words(demo).first).to_have_text(BEST)
    hits = demo.locator("#results .hit")
    demo.keyboard.press("ArrowDown")
    demo.keyboard.press("ArrowDown")
    expect(hits.nth(1)).to_be_focused()
    demo.keyboard.press("ArrowUp")
    expect(hits.first).to_be_focused()
    outline = hits.first.evaluate("element => getComputedStyle(element).outlineStyle")
    assert outline == "solid"
    demo.keyboard.press("Enter")
    reader = demo.get_by_role("dialog")
    expect(reader).to_contain_text("longing for something past")
    demo.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    expect(hits.first).to_be_focused()
    demo.keyboard.press("/")
    expect(field(demo)).to_be_focused()
    demo.keyboard.press("Escape")
    expect(field(demo)).to_have_value("")
    expect(words(demo)).to_have_count(0)


def test_modes_differ_and_say_how_a_result_was_found(demo: Page) -> None:
    wait_until_ready(demo)
    search(demo, QUERY)
    results = demo.locator("#results")
    expect(words(demo).first).to_have_text(BEST)
    expect(results).to_contain_text("no word in common")
    by_meaning = words(demo).all_inner_texts()
    expect(results.locator("mark").first).to_be_visible()
    demo.get_by_text("Keyword", exact=True).click()
    expect(results).to_have_attribute("data-mode", "keyword")
    by_keyword = words(demo).all_inner_texts()
    assert by_keyword != by_meaning
    for row in results.get_by_role("listitem").all():
        text = row.inner_text().lower()
        assert re.search("long|for|the|past", text), text
    demo.get_by_text("Hybrid", exact=True).click()
    expect(results).to_have_attribute("data-mode", "hybrid")
    expect(results).to_contain_text("no. 1 by meaning")
    expect(results).to_contain_text(re.compile(r"no\. \d+ by keyword"))


def test_filter_by_kind(demo: Page) -> None:
    wait_until_ready(demo)
    search(demo, "something sweet")
    demo.get_by_label("Kind").select_option("animal")
    expect(demo.locator("#results .kind").first).to_have_text("animal")
    assert set(demo.locator("#results .kind").all_inner_texts()) == {"animal"}
    assert len(words(demo).all()) == 24


def test_a_link_finds_the_same_again(page: Page, site: Site) -> None:
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    search(page, "something sweet")
    page.get_by_text("Hybrid", exact=True).click()
    page.get_by_label("Kind").select_option("food")
    expect(page).to_have_url(re.compile(r"#q=something\+sweet&mode=hybrid&only=food$"))
    expect(page.locator("#results")).to_have_attribute("data-mode", "hybrid")
    expect(page.locator("#results .kind").first).to_have_text("food")
    found = words(page).all_inner_texts()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    wait_until_ready(page)
    expect(page.locator("#results")).to_have_attribute("data-mode", "hybrid")
    expect(words(page)).to_have_text(found)
    assert all("something" not in path for path in site.requests)
    page.get_by_text("Meaning", exact=True).click()
    page.go_back()
    expect(page.get_by_role("radio", name="Hybrid")).to_be_checked()


def test_emoji_right_to_left_and_odd_queries(demo: Page) -> None:
    wait_until_ready(demo)
    for query in ("😀🏳️‍🌈 party", "الحنين إلى الماضي", "\u202eabc", "<b>&amp;", "word " * 300):
        search(demo, query.strip())
        expect(words(demo).first).to_be_visible()
    expect(demo.locator("#count")).to_contain_text("only the start of your text was read")
    assert field(demo).get_attribute("dir") == "auto"


def test_progress_then_cancel_then_load_again(page: Page, site: Site) -> None:
    body = (SITE / file_path("model")[1:]).read_bytes()
    site.answers[file_path("model")] = stalled(body[:1_000_000], len(body))
    page.goto(f"{site.url}demo/")
    expect(page.locator("#engine-text")).to_contain_text(re.compile(r"\d+\.\d of 19\.\d MB"))
    expect(page.get_by_role("progressbar")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#engine-text")).to_contain_text("cancelled")
    search(page, QUERY)  # by keyword, which needs no engine
    expect(page.locator("#results")).to_have_attribute("data-mode", "keyword")
    expect(page.locator("#count")).to_contain_text("by keyword, until the engine is ready")
    del site.answers[file_path("model")]
    page.get_by_role("button", name="Load again").click()
    wait_until_ready(page)
    expect(page.locator("#results")).to_have_attribute("data-mode", "meaning")
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


def test_every_control_has_a_name_and_every_region_a_label(demo: Page) -> None:
    wait_until_ready(demo)
    field(demo).fill(QUERY)
    wait_for_results_of(demo, QUERY)
    for button in demo.get_by_role("button").all():
        assert button.inner_text().strip()
    expect(demo.locator("#count")).to_have_attribute("aria-live", "polite")
    expect(demo.get_by_role("search")).to_be_visible()
    results = demo.get_by_role("list", name="Nearest in meaning")
    expect(results.get_by_role("listitem")).to_have_count(24)
    expect(demo.get_by_role("heading", level=1)).to_have_count(1)
    assert demo.locator("html").get_attribute("lang") == "en"
