"""The demo without a network: after a first visit, installed, and that nothing leaves the page."""

from __future__ import annotations

import base64
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

# URLs of what the service worker keeps, by the name of its cache.
KEPT = """async () => {
    const kept = {};
    for (const name of await caches.keys()) {
        kept[name] = (await (await caches.open(name)).keys()).map(({url}) => url);
    }
    return kept;
}"""


def wait_until_kept(page: Page) -> None:
    expect(page.locator("#offline-state")).to_have_text("Works offline from now on.")


def kept_files(text: str) -> dict[str, str]:
    """Path and hash of each file in the list that sw.js begins with."""
    files: dict[str, str] = dict(json.loads(text[text.index("[") : text.index(";")]))
    return files


def base64_digest(body: bytes) -> str:
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


@pytest.mark.parametrize(
    ("size", "prefix"), [(DESKTOP, ""), (PHONE, "/some/path")], ids=["desktop", "phone"]
)
def test_after_a_visit_everything_works_without_a_network(
    browser: Browser, site: Site, size: dict[str, Any], prefix: str
) -> None:
    site.prefix = prefix
    address = f"{site.url[:-1]}{prefix}/demo/"
    with browser.new_context(**size) as context:
        page = context.new_page()
        page.goto(address)
        wait_until_ready(page)
        wait_until_kept(page)
        site.server.shutdown()
        site.server.socket.close()
        context.set_offline(True)
        page.goto(f"{address}?any=thing#q={QUERY.replace(' ', '+')}")
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
    urls = [url for kept in page.evaluate(KEPT).values() for url in kept]
    assert any("/demo/csv.js?" in url for url in urls)
    assert not any("demo-map.json" in url for url in urls)


def test_the_next_version_waits_for_the_pages_of_this_one(page: Page, site: Site) -> None:
    """It fetches what changed and nothing else, and leaves nothing behind of what was before."""
    page.goto(f"{site.url}demo/")
    wait_until_ready(page)
    wait_until_kept(page)
    # As of another version of Workbox.
    page.evaluate("caches.open(`workbox-precache-v1-${new URL('..', location)}`)")
    before = page.title()
    new = (SITE / "demo/index.html").read_bytes().replace(b"<title>", b"<title>Changed: ")
    worker = (SITE / "sw.js").read_text("utf-8")
    old_hash, new_hash = kept_files(worker)["demo/index.html"], base64_digest(new)
    site.answers["/demo/index.html"] = content(new, "text/html")
    changed = worker.replace(old_hash, new_hash).encode()
    site.answers["/sw.js"] = content(changed, "text/javascript")
    served = len(site.requests)
    page.reload()
    expect(page.locator("#offline-state")).to_have_text("A new version comes with the next visit.")
    assert page.title() == before
    wait_until_ready(page)
    for _ in range(100):  # the browser takes its time to see that the page is gone
        page.goto("about:blank")
        page.wait_for_timeout(100)
        page.goto(f"{site.url}demo/")
        if page.title() != before:
            break
    assert page.title() == f"Changed: {before}"
    assert set(site.requests[served:]) == {"/sw.js", "/demo/offline.js", "/demo/index.html"}
    ((name, urls),) = page.evaluate(KEPT).items()
    assert name.endswith(site.url)
    assert len(urls) == len(kept_files(worker))
    (url,) = (url for url in urls if "/demo/index.html" in url)
    assert page.evaluate("url => new URL(url).searchParams.get('__WB_REVISION__')", url) == new_hash


def test_the_list_of_kept_files_is_whole_and_true(manifest: dict[str, Any]) -> None:
    files = kept_files((SITE / "sw.js").read_text("utf-8"))
    for path, digest in files.items():
        assert base64_digest((SITE / path).read_bytes()) == digest
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
