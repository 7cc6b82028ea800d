"""What the tests of the demo share: finding its parts, giving it files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Locator, Page, expect

QUERY = "an instrument with black and white keys"
BEST = "Piano"
PASSAGES = 3596
LONGEST_TASK = 50  # ms, of the main thread
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
DESKTOP: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}}
NOTES = """# Ferries

The ferry to the island leaves at nine. It carries cars and bicycles. Bring some water.

# Sleep

A cat sleeps through most of the day. Dogs less so.
"""


def field(page: Page) -> Locator:
    return page.get_by_label("What are you looking for?")


def words(page: Page) -> Locator:
    return page.locator("#results .word")


def wait_until_ready(page: Page) -> None:
    expect(page.locator("#engine")).to_have_attribute("data-state", "ready")


def wait_for_results_of(page: Page, query: str) -> None:
    expect(page.locator("#results")).to_have_attribute("data-query", query)


def search(page: Page, query: str) -> None:
    field(page).fill(query)
    wait_for_results_of(page, query)


def first_with(page: Page, text: str) -> None:
    """The first result has a text in it."""
    expect(page.locator("#results li").first).to_contain_text(text)


@contextmanager
def traced(page: Page) -> Iterator[dict[str, float]]:
    """Fills what it gives with the longest task of the page's main thread meanwhile, and their sum
    and count. In ms of its own CPU time: that it had to wait for a busy machine does not count.
    """
    figures: dict[str, float] = {}
    browser = page.context.browser
    assert browser is not None
    timeline = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
    browser.start_tracing(page=page, categories=["toplevel", *timeline])
    try:
        yield figures
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
        # The browser has other pages, too, such as the one of a new tab.
        ours = {event["pid"] for event in events if "/demo/" in url_of(event)}
        threads = {
            (event["pid"], event["tid"])
            for event in events
            if event["name"] == "thread_name"
            and event["args"]["name"] == "CrRendererMain"
            and event["pid"] in ours
        }
        tasks = [
            event.get("tdur", 0) / 1000
            for event in events
            if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in threads
        ]
        figures.update(longest=max(tasks), sum=sum(tasks), count=len(tasks))


def url_of(event: dict[str, Any]) -> str:
    """Of the script that an event of a trace is about."""
    data = event.get("args", {}).get("data")
    return str(data.get("url", "")) if isinstance(data, dict) else ""


def go(page: Page, panel: str) -> None:
    page.get_by_role("navigation").get_by_role("link", name=panel).click()


def add_files(page: Page, files: dict[str, str | bytes]) -> None:
    """Pick files, by name, in the panel of the user's own."""
    payloads: list[Any] = [
        {
            "name": name,
            "mimeType": "application/octet-stream",
            "buffer": content.encode() if isinstance(content, str) else content,
        }
        for name, content in files.items()
    ]
    go(page, "Your files")
    page.locator("#files").set_input_files(payloads)


def status(page: Page) -> Locator:
    return page.locator("#library-status")


def choose_collection(page: Page, name: str) -> None:
    go(page, "Search")
    page.locator("#collection").select_option(label=name)


def assert_no_sideways_scroll(page: Page) -> None:
    wide, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inner


def pdf(lines: list[str]) -> bytes:
    """A PDF file with a page a line."""
    pages = range(len(lines))
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(lines)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for i, line in enumerate(lines):
        stream = f"BT /F1 12 Tf 40 700 Td ({line}) Tj ET"
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] "
            f"{font} /Contents {5 + 2 * i} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    out, offsets = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode("latin-1")


def locked_pdf() -> bytes:
    """A PDF file that asks for a password: no password has this check value."""
    key, name = "41" * 32, "42" * 16
    lock = f"<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -4 >>"
    trailer = f"/Root 1 0 R /ID [<{name}> <{name}>] /Encrypt {lock}"
    return pdf(["a secret"]).replace(b"/Root 1 0 R", trailer.encode("ascii"))
