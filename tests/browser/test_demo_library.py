"""The demo with material of the user's own: added, searched, kept, refused, removed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import (
    LONGEST_TASK,
    NOTES,
    PHONE,
    add_files,
    assert_no_sideways_scroll,
    choose_collection,
    field,
    first_with,
    go,
    locked_pdf,
    pdf,
    search,
    status,
    traced,
    wait_until_ready,
    words,
)
from tests.browser.site import Site

CSV = "title,text\n" + "".join(
    f"Row {i},note number {i} about {('boats', 'bread', 'rain')[i % 3]} that was written down"
    " on some evening in the week after the one before; it goes on for a while about this\n"
    for i in range(5000)
)


def test_files_of_every_kind_are_found_by_meaning_kept_and_removed(demo: Page) -> None:
    files: dict[str, str | bytes] = {
        "notes.md": NOTES,
        "plain.txt": "Winter came early. Snow covered the village and the roads were closed.",
        "page.html": "<title>Bread</title><script>no()</script><p>Knead the dough and bake it.",
        "table.csv": 'name,about\n"Ada, L.",wrote the first computer program\n',
        "data.json": '[{"title": "Tides", "body": "The moon pulls the sea up and down."}]',
        "paper.pdf": pdf(["A page about volcanoes that erupt", "Bees make honey in a hive"]),
    }
    add_files(demo, files)
    expect(status(demo)).to_contain_text("8 passages of 6 files added")
    expect(demo.locator("#sources li")).to_have_count(6)
    choose_collection(demo, "Your files")
    for query, source, title in (
        ("boat departure time", "notes.md", "Ferries"),
        ("insects and sweet food", "paper.pdf", "page 2"),
        ("software pioneer", "table.csv", "Ada"),
        ("lunar gravity and the ocean", "data.json", "Tides"),
        ("making a loaf", "page.html", "Bread"),
        ("blizzard", "plain.txt", ""),
    ):
        search(demo, query)
        first = demo.locator("#results li").first
        expect(first).to_contain_text(source)
        expect(first).to_contain_text(title)
    search(demo, "boat departure time")
    best = demo.locator("#results li").first.locator(".best")
    expect(best.first).to_be_visible()
    assert "".join(best.all_inner_texts()) == "The ferry to the island leaves at nine."
    demo.locator("#results .hit").first.click()
    expect(demo.get_by_role("dialog")).to_contain_text("Bring some water.")
    demo.keyboard.press("Escape")
    demo.get_by_label("File", exact=True).select_option("paper.pdf")
    expect(demo.locator("#results li").first).to_contain_text("paper.pdf")
    expect(demo.locator("#results li")).to_have_count(2)
    demo.reload()
    wait_until_ready(demo)
    expect(demo.locator("#results li").first).to_contain_text("paper.pdf")
    go(demo, "Your files")
    expect(demo.locator("#sources li")).to_have_count(6)
    demo.get_by_role("button", name="Remove notes.md").click()
    expect(demo.locator("#sources li")).to_have_count(5)
    demo.get_by_role("button", name="Remove everything").click()
    expect(status(demo)).to_contain_text("removed from this browser")
    kept = demo.evaluate(
        """() => new Promise((resolve) => {
            const opening = indexedDB.open("tern-demo");
            opening.onsuccess = () => {
                const counting = opening.result.transaction("pieces").objectStore("pieces").count();
                counting.onsuccess = () => resolve(counting.result);
            };
        })"""
    )
    assert kept == 0
    demo.reload()
    wait_until_ready(demo)
    expect(demo.locator("#library-list")).to_be_hidden()


def test_texts_and_folders_pasted_dropped_and_picked_and_what_cannot_be_read(
    demo: Page, tmp_path: Path
) -> None:
    go(demo, "Your files")
    demo.get_by_label("Or paste a text").fill("שלום עולם 😀. The concert starts at eight.")
    demo.get_by_role("button", name="Add this text").click()
    expect(status(demo)).to_contain_text("1 passage of 1 file added")
    choose_collection(demo, "Your files")
    search(demo, "when does the music begin")
    passage = demo.locator("#results .passage").first
    expect(passage).to_contain_text("שלום עולם 😀. The concert starts at eight.")
    assert passage.evaluate("element => getComputedStyle(element).direction") == "rtl"
    go(demo, "Your files")
    demo.evaluate(
        """() => {
            const file = (path, text) => ({
                isFile: true, isDirectory: false, name: path.split("/").pop(), fullPath: path,
                file: (give) => give(new File([text], path.split("/").pop())),
            });
            const children = [file("/trip/a.txt", "We hiked."), file("/trip/.x", "no")];
            const folder = {
                isDirectory: true, isFile: false, name: "trip",
                createReader: () => ({ readEntries: (give) => give(children.splice(0)) }),
            };
            const item = { webkitGetAsEntry: () => folder };
            const event = new Event("drop", { bubbles: true, cancelable: true });
            event.dataTransfer = { types: ["Files"], items: [item], files: [] };
            document.getElementById("drop").dispatchEvent(event);
        }"""
    )
    expect(status(demo)).to_contain_text("1 passage of 1 file added")
    expect(demo.locator("#sources")).to_contain_text("trip/a.txt")
    # Files that lie in no folder, in a drop as browsers make it, from another panel.
    go(demo, "Compare")
    demo.evaluate(
        """() => {
            const dataTransfer = new DataTransfer();
            for (const name of ["one.txt", "two.md"]) {
                dataTransfer.items.add(new File([`The text of ${name}.`], name));
            }
            const how = { bubbles: true, cancelable: true, dataTransfer };
            for (const type of ["dragover", "drop"]) {
                document.body.dispatchEvent(new DragEvent(type, how));
            }
        }"""
    )
    expect(status(demo)).to_contain_text("2 passages of 2 files added")
    expect(demo.locator("#sources")).to_contain_text("two.md")
    (tmp_path / "trip").mkdir()
    (tmp_path / "trip" / "b.txt").write_text("We hiked up the mountain.")
    go(demo, "Your files")
    demo.locator("#folder").set_input_files(tmp_path / "trip")
    expect(demo.locator("#sources")).to_contain_text("trip/b.txt")
    whole = pdf(["x"])
    add_files(
        demo,
        {
            "broken.pdf": b"%PDF-1.4\n" + b"\x00garbage" * 40,
            "cut.json": '{"a": [1, 2',
            "empty.txt": " \n",
            "program.exe": b"MZ",
            "half.pdf": whole[: len(whole) // 4],
            "locked.pdf": locked_pdf(),
            "good.txt": "The good one.",
        },
    )
    expect(status(demo)).to_contain_text("1 passage of 1 file added")
    problems = demo.locator("#problems")
    for name, code in (
        ("broken.pdf", "PDF_DAMAGED"),
        ("half.pdf", "PDF_DAMAGED"),
        ("locked.pdf", "PDF_PASSWORD"),
        ("cut.json", "NOT_JSON"),
        ("empty.txt", "EMPTY"),
        ("program.exe", "UNKNOWN_KIND"),
    ):
        row = problems.locator("li", has_text=name)
        expect(row).to_contain_text(code)
    demo.get_by_role("button", name="Search them").click()
    expect(demo.get_by_label("In", exact=True)).to_have_value("library")
    expect(field(demo)).to_be_focused()


def test_five_thousand_rows_in_the_pool_paused_searched_meanwhile_and_cancelled(
    demo: Page, tmp_path: Path
) -> None:
    add_files(demo, {"notes.md": NOTES})
    expect(status(demo)).to_contain_text("added")
    (tmp_path / "rows.csv").write_text(CSV)
    (tmp_path / "notes.md").write_text("Another text in the place of the first.")
    with traced(demo) as tasks:
        # From the disk: to pass their content through the page would hold it up.
        demo.locator("#files").set_input_files([tmp_path / "rows.csv", tmp_path / "notes.md"])
        progress = demo.locator("#run-text")
        expect(progress).to_contain_text(re.compile(r"[1-9]\d* of 5,001 passages"))
        expect(demo.locator("#run")).to_have_attribute("data-workers", re.compile(r"[2-8]"))
        demo.get_by_role("button", name="Pause").click()
        expect(progress).to_contain_text("Paused")
    assert tasks["count"] > 50
    assert tasks["longest"] < LONGEST_TASK
    demo.wait_for_timeout(500)
    paused_at = demo.locator("#run-progress").evaluate("bar => bar.value")
    demo.wait_for_timeout(500)
    assert demo.locator("#run-progress").evaluate("bar => bar.value") == paused_at
    choose_collection(demo, "Your files")
    search(demo, "ships")  # what is indexed already can be found
    expect(words(demo).first).to_be_visible()
    go(demo, "Your files")
    demo.get_by_role("button", name="Go on").click()
    expect(progress).not_to_contain_text("Paused")
    demo.locator("#stop").click()
    expect(status(demo)).to_contain_text("Cancelled. Nothing of it was kept.")
    choose_collection(demo, "Your files")
    search(demo, "boat departure time")  # the file of before is as it was
    first_with(demo, "Ferries")
    demo.reload()
    wait_until_ready(demo)
    go(demo, "Your files")
    expect(demo.locator("#library-count")).to_have_text("1 file, 2 passages")


@pytest.mark.full
def test_five_thousand_rows_are_indexed(demo: Page) -> None:
    add_files(demo, {"rows.csv": CSV})
    expect(status(demo)).to_contain_text("5,000 passages of 1 file added", timeout=300_000)
    choose_collection(demo, "Your files")
    search(demo, "note number 4321")
    demo.get_by_text("Keyword", exact=True).click()
    expect(demo.locator("#results li").first).to_contain_text("4321")


def test_without_room_the_files_can_be_searched_and_the_page_says_so(
    page: Page, site: Site
) -> None:
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    devtools = page.context.new_cdp_session(page)
    quota = {"origin": site.url.rstrip("/"), "quotaSize": 1000}
    devtools.send("Storage.overrideQuotaForOrigin", quota)
    add_files(page, {"notes.md": NOTES * 200})
    expect(status(page)).to_contain_text("no room to keep them")
    choose_collection(page, "Your files")
    search(page, "boat departure time")
    expect(page.locator("#results li").first).to_contain_text("Ferries")


def test_files_indexed_with_another_model_are_kept_and_indexed_again(demo: Page) -> None:
    demo.evaluate(
        """async () => {
            const {SearchIndex, openIndexStore} = await import("/search.js");
            const index = new SearchIndex({
                dim: 384, fingerprint: "ab".repeat(32), maxSeqLen: 128,
                tokenCount: () => ({tokens: 9, truncated: false}),
                embedBatch: (texts) => texts.map(() => Float32Array.of(1, ...Array(383).fill(0))),
            });
            await index.add([
                {id: "a#0", text: "The ferry leaves at nine.", source: "a.txt", meta: {place: "p"}},
                {id: "b#0", text: "Cats sleep all day long.", source: "b.txt", meta: {place: "p"}},
            ]);
            await (await openIndexStore({name: "tern-demo"})).save("library", index);
        }"""
    )
    demo.reload()
    wait_until_ready(demo)
    go(demo, "Your files")
    expect(status(demo)).to_contain_text("were indexed with another model")
    expect(demo.locator("#sources li")).to_have_count(2)
    choose_collection(demo, "Your files")
    field(demo).fill("boat")
    expect(demo.locator("#empty")).to_contain_text("indexed again")
    expect(words(demo)).to_have_count(0)  # never by vectors of another model
    go(demo, "Your files")
    demo.get_by_role("button", name="Index them again").click()
    expect(status(demo)).to_contain_text("2 passages indexed again")
    expect(demo.get_by_role("button", name="Index them again")).to_be_hidden()
    demo.reload()
    wait_until_ready(demo)
    choose_collection(demo, "Your files")
    search(demo, "boat departure time")
    first_with(demo, "a.txt")


def test_a_damaged_library_is_said_to_be_and_can_be_removed(demo: Page) -> None:
    add_files(demo, {"notes.md": NOTES})
    expect(status(demo)).to_contain_text("added")
    demo.evaluate(
        """() => new Promise((resolve) => {
            const opening = indexedDB.open("tern-demo");
            opening.onsuccess = () => {
                const change = opening.result.transaction("pieces", "readwrite");
                const pieces = change.objectStore("pieces");
                pieces.get(["library", 0]).onsuccess = ({ target }) => {
                    target.result[200] ^= 1;
                    pieces.put(target.result, ["library", 0]);
                };
                change.oncomplete = () => { opening.result.close(); resolve(); };
            };
        })"""
    )
    demo.reload()
    wait_until_ready(demo)
    go(demo, "Your files")
    expect(status(demo)).to_contain_text("damaged")
    demo.get_by_role("button", name="Remove everything").click()
    expect(demo.locator("#library-list")).to_be_hidden()


def test_on_a_phone(browser: Browser, site: Site) -> None:
    with browser.new_context(**PHONE) as context:
        page = context.new_page()
        page.goto(f"{site.url}demo/#view=library")
        wait_until_ready(page)
        add_files(page, {"a-rather-long-name-of-a-file-" * 4 + ".md": NOTES})
        expect(status(page)).to_contain_text("2 passages of 1 file added")
        assert_no_sideways_scroll(page)
        choose_collection(page, "Your files")
        search(page, "boat departure time")
        expect(page.locator("#results li").first).to_contain_text("Ferries")
        assert_no_sideways_scroll(page)
        page.locator("#results .hit").first.tap()
        expect(page.get_by_role("dialog")).to_contain_text("Bring some water.")
        assert_no_sideways_scroll(page)
