"""The demo without a network: after a first visit, installed, and that nothing leaves the page."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.demo_page import (
    BEST,
    DESKTOP,
    NOTES,
    PASSAGES,
    PHONE,
    QUERY,
    add_files,
    choose_collection,
    go,
    pdf,
    search,
    status,
    wait_until_ready,
    words,
)
from tests.browser.site import SITE, Site, content


def wait_until_kept(page: Page) -> None:
    expect(page.locator("#offline-state")).to_have_text("Works offline from now on.")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_after_a_visit_everything_works_without_a_network(
    browser: Browser, site: Site, size: dict[str, Any]
) -> None:
    with browser.new_context(**size) as context:
        page = context.new_page()
        page.goto(f"{site.url}demo/")
        wait_until_ready(page)
        wait_until_kept(page)
        site.server.shutdown()
        site.server.socket.close()
        context.set_offline(True)
        page.goto(f"{site.url}demo/#q={QUERY.replace(' ', '+')}")
        page.reload()
        wait_until_ready(page)
        expect(page.locator("#results")).to_have_attribute("data-mode", "meaning")
        expect(words(page).first).to_have_text(BEST)
        add_files(page, {"paper.pdf": pdf(["Bees make honey in a hive"]), "notes.md": NOTES})
        expect(status(page)).to_contain_text("3 passages of 2 files added")
        go(page, "Map")
        expect(page.locator("#map")).to_have_attribute("data-points", str(PASSAGES))


def test_after_the_load_there_is_no_request(page: Page, site: Site) -> None:
    """Not to this server, not to another: whatever is searched, added or drawn."""
    urls: list[str] = []
    page.context.on("request", lambda request: urls.append(request.url))
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    wait_until_kept(page)
    page.reload()
    wait_until_ready(page)
    wait_until_kept(page)
    page.wait_for_timeout(1000)  # the browser asks for sw.js once more
    served = len(site.requests)
    search(page, QUERY)
    add_files(page, {"secret.md": NOTES, "secret.pdf": pdf(["a secret"])})
    expect(status(page)).to_contain_text("added")
    choose_collection(page, "Your files")
    search(page, "a secret")
    for panel in ("Map", "Compare", "Classify"):
        go(page, panel)
    expect(page.locator("#scores li")).to_have_count(4)
    assert site.requests[served:] == []
    assert all(url.startswith((site.url, "data:", "blob:")) for url in urls)
    expect(page.get_by_text("nothing leaves this page")).to_be_visible()
    blocked = page.evaluate(
        "fetch('https://example.org/', {mode: 'no-cors'}).then(() => 'sent', () => 'blocked')"
    )
    assert blocked == "blocked"


def test_a_damaged_file_is_never_kept(page: Page, site: Site) -> None:
    site.answers["/demo/demo-map.json"] = content(b"{}", "application/json")
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    expect(page.locator("#offline-state")).to_contain_text("keeps no files")
    kept = "caches.open('tern-demo').then((cache) => cache.keys())"
    urls = page.evaluate(f"{kept}.then((keys) => keys.map(({{url}}) => url))")
    assert not any("demo-map.json" in url for url in urls)


def test_the_list_of_kept_files_is_whole_and_true(manifest: dict[str, Any]) -> None:
    text = (SITE / "sw.js").read_text("utf-8")
    files = dict(json.loads(text[text.index("[") : text.index(";")]))
    for path, digest in files.items():
        assert hashlib.sha256((SITE / path).read_bytes()).hexdigest() == digest
    fetched = [entry["path"] for entry in manifest["files"].values()]
    assert {path for path in fetched if path.startswith("files/")} <= set(files)
    assert {"demo/index.html", "demo/vendor/pdf.worker.mjs", "demo/offline.js"} <= set(files)


def test_it_can_be_installed(page: Page, site: Site) -> None:
    page.goto(f"{site.url}demo/")
    answer = page.evaluate(
        "fetch(document.querySelector('link[rel=manifest]').href).then((found) => found.json())"
    )
    assert answer["display"] == "standalone"
    sizes = page.evaluate(
        """(icons) => Promise.all(icons.map(async ({src}) => {
            const image = await createImageBitmap(await (await fetch(src)).blob());
            return `${image.width}x${image.height}`;
        }))""",
        answer["icons"],
    )
    assert sizes == [icon["sizes"] for icon in answer["icons"]]
    devtools = page.context.new_cdp_session(page)
    assert devtools.send("Page.getAppManifest")["errors"] == []
