"""The demo page, used as a person would: typed into, by keyboard, by link."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import (
    BEST,
    DESKTOP,
    LONGEST_TASK,
    QUERY,
    field,
    search,
    traced,
    wait_for_results_of,
    wait_until_ready,
    words,
)
from tests.browser.site import Site, running_site


@pytest.fixture(scope="module")
def visit(browser: Browser) -> Iterator[Page]:
    """One visit for all tests that leave nothing behind."""
    errors: list[str] = []
    with running_site() as site, browser.new_context(**DESKTOP) as context:
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{site.url}demo/")
        wait_until_ready(page)
        yield page
    assert errors == []


@pytest.fixture
def demo(visit: Page) -> Page:
    """The visit, as it was at its start."""
    visit.evaluate("location.hash = ''")
    expect(words(visit)).to_have_count(0)
    field(visit).focus()
    return visit


def test_typing_finds_what_is_meant_and_never_holds_up_the_page(demo: Page) -> None:
    with traced(demo) as tasks:
        field(demo).press_sequentially(QUERY)
        wait_for_results_of(demo, QUERY)
        expect(demo.locator("#results .best").first).to_be_visible()
    assert tasks["count"] > 50
    assert tasks["longest"] < LONGEST_TASK
    for query, title in (
        ("heart attack symptoms", "Myocardial infarction"),
        ("mountain that erupts lava", "Volcano"),
        ("frozen dessert made from milk", "Ice cream"),
        ("the first meal of the day", "Breakfast"),
    ):
        search(demo, query)
        assert title in words(demo).all_inner_texts()[:3]


def test_a_result_shows_its_source_the_best_sentence_and_the_words_in_common(demo: Page) -> None:
    search(demo, QUERY)
    row = demo.locator("#results li").first
    expect(row).to_contain_text("Wikipedia")
    expect(row.locator(".kind")).to_have_text("Arts")
    best = row.locator(".best")
    expect(best.first).to_be_visible()
    sentence = "".join(best.all_inner_texts())
    assert "keys" in sentence
    assert sentence.endswith(".")
    marked = {text.lower() for text in row.locator("mark").all_inner_texts()}
    assert {"instrument", "keys"} <= marked
    assert "an" not in marked
    row.locator(".hit").click()
    reader = demo.get_by_role("dialog")
    link = reader.get_by_role("link", name="The whole article")
    expect(link).to_have_attribute("href", "https://en.wikipedia.org/wiki/Piano")
    reader.get_by_role("button", name="Find what is near this").click()
    expect(reader).to_be_hidden()
    expect(words(demo).first).to_have_text(BEST)
    expect(words(demo)).to_have_count(24)


def test_the_latest_query_wins(demo: Page) -> None:
    for text in ("a river of ice", "heart attack", "frozen dessert", QUERY):
        field(demo).fill(text)
    wait_for_results_of(demo, QUERY)
    expect(words(demo).first).to_have_text(BEST)


def test_examples_are_buttons_that_search(demo: Page) -> None:
    demo.get_by_role("button", name=QUERY, exact=True).click()
    expect(field(demo)).to_have_value(QUERY)
    expect(words(demo).first).to_have_text(BEST)
    expect(demo.locator("#examples")).to_be_hidden()


def test_keyboard_all_the_way(demo: Page) -> None:
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
    expect(demo.locator("#results .best").first).to_be_visible()
    expect(hits.first).to_be_focused()  # what is marked later takes no focus away
    demo.keyboard.press("Enter")
    reader = demo.get_by_role("dialog")
    expect(reader).to_contain_text("keyboard instrument")
    demo.keyboard.press("Escape")
    expect(reader).to_be_hidden()
    expect(hits.first).to_be_focused()
    demo.keyboard.press("/")
    expect(field(demo)).to_be_focused()
    demo.keyboard.press("Escape")
    expect(field(demo)).to_have_value("")
    expect(words(demo)).to_have_count(0)


def test_modes_differ_and_say_how_a_result_was_found(demo: Page) -> None:
    search(demo, QUERY)
    results = demo.locator("#results")
    expect(words(demo).first).to_have_text(BEST)
    by_meaning = words(demo).all_inner_texts()
    demo.get_by_text("Keyword", exact=True).click()
    expect(results).to_have_attribute("data-mode", "keyword")
    by_keyword = words(demo).all_inner_texts()
    assert by_keyword != by_meaning
    for row in results.get_by_role("listitem").all():
        text = row.inner_text().lower()
        assert re.search("instrument|black|white|keys?|with", text), text
    demo.get_by_text("Hybrid", exact=True).click()
    expect(results).to_have_attribute("data-mode", "hybrid")
    expect(results).to_contain_text("no. 1 by meaning")
    expect(results).to_contain_text(re.compile(r"no\. \d+ by keyword"))
    demo.get_by_text("Meaning", exact=True).click()
    search(demo, "heartbroken and tearful")
    expect(results).to_contain_text("no word in common")


def test_filter_by_topic(demo: Page) -> None:
    search(demo, "something sweet")
    demo.get_by_label("Topic").select_option("Technology")
    expect(demo.locator("#results .kind").first).to_have_text("Technology")
    expect(demo.locator("#results .kind", has_not_text="Technology")).to_have_count(0)
    assert set(demo.locator("#results .kind").all_inner_texts()) == {"Technology"}
    assert len(words(demo).all()) == 24


def test_emoji_right_to_left_and_odd_queries(demo: Page) -> None:
    for query in ("😀🏳️‍🌈 party", "الحنين إلى الماضي", "\u202eabc", "<b>&amp;", "word " * 300):
        search(demo, query.strip())
        expect(words(demo).first).to_be_visible()
    expect(demo.locator("#count")).to_contain_text("only the start of your text was read")
    assert field(demo).get_attribute("dir") == "auto"


def test_every_control_has_a_name_and_every_region_a_label(demo: Page) -> None:
    search(demo, QUERY)
    for button in demo.get_by_role("button").all():
        assert button.inner_text().strip()
    expect(demo.locator("#count")).to_have_attribute("aria-live", "polite")
    expect(demo.get_by_role("search")).to_be_visible()
    results = demo.get_by_role("list", name="Nearest in meaning")
    expect(results.get_by_role("listitem")).to_have_count(24)
    expect(demo.get_by_role("heading", level=1)).to_have_count(1)
    assert demo.locator("html").get_attribute("lang") == "en"
    footer = demo.get_by_role("contentinfo")
    expect(footer.get_by_role("link", name="CC BY-SA 4.0")).to_be_visible()
    href = footer.get_by_role("link", name="CC BY-SA 4.0").evaluate("link => link.href")
    assert demo.evaluate("url => fetch(url).then(({ok}) => ok)", href)


def test_a_link_finds_the_same_again(page: Page, site: Site) -> None:
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    search(page, "something sweet")
    page.get_by_text("Hybrid", exact=True).click()
    page.get_by_label("Topic").select_option("Everyday life")
    expect(page).to_have_url(re.compile(r"#q=something\+sweet&mode=hybrid&only=Everyday\+life$"))
    expect(page.locator("#results")).to_have_attribute("data-mode", "hybrid")
    expect(page.locator("#results .kind", has_not_text="Everyday life")).to_have_count(0)
    found = words(page).all_inner_texts()
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    wait_until_ready(page)
    expect(page.locator("#results")).to_have_attribute("data-mode", "hybrid")
    expect(words(page)).to_have_text(found)
    assert all("something" not in path for path in site.requests)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("#copy-link")
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == link
    expect(button).to_have_text("Copy link")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()); }")
    button.click()
    expect(button).to_have_text("The address bar has it")
    page.get_by_text("Meaning", exact=True).click()
    page.go_back()
    expect(page.get_by_role("radio", name="Hybrid")).to_be_checked()
