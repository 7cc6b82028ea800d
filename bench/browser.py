"""Chromium for measurements: each start has an empty profile, which ends with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import BrowserContext, CDPSession, Page, sync_playwright

from tools.chromium import FLAGS, executable

from .judge import BenchError

DONE = "window.outcome !== undefined"
REPORT_ERRORS = """
  const fail = (error) => (window.outcome ??= { error: String(error?.stack ?? error) });
  addEventListener("error", (event) => fail(event.error ?? event.message));
  addEventListener("unhandledrejection", (event) => fail(event.reason));
"""
PATIENCE_MS = 120_000


@dataclass(frozen=True)
class Line:
    """A network line: Mbit a second down, and milliseconds of delay to the server and back."""

    mbit: float
    delay_ms: float


@dataclass(frozen=True)
class Chrome:
    context: BrowserContext

    def open(self, line: Line | None = None) -> Page:
        page = self.context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.add_init_script(REPORT_ERRORS)
        if line is not None:
            bytes_a_second = line.mbit * 1e6 / 8
            settings = {
                "offline": False,
                "latency": line.delay_ms,
                "downloadThroughput": bytes_a_second,
                "uploadThroughput": bytes_a_second,
            }
            session = self.context.new_cdp_session(page)
            session.send("Network.enable")
            session.send("Network.emulateNetworkConditions", settings)
        return page

    def outcome(self, url: str, line: Line | None = None) -> Any:
        """What a page leaves in window.outcome. Raises BenchError with a page's error."""
        page = self.open(line)
        page.goto(url, wait_until="commit")
        page.wait_for_function(DONE)
        result = page.evaluate("window.outcome")
        page.close()
        if "error" in result:
            raise BenchError(f"{url}: {result['error']}")
        return result

    def browser_session(self, page: Page) -> CDPSession:
        return self.context.new_cdp_session(page)


@contextmanager
def started(flags: Sequence[str] = ()) -> Iterator[Chrome]:
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            Path(profile),
            executable_path=executable(),
            args=[*FLAGS, *flags],
            bypass_csp=True,  # or the demo lets nobody ask it the time
        )
        yield Chrome(context)
        context.close()
