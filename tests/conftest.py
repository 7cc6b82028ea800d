"""Options of the test run.

pytest           what every change is checked with
pytest --full    and the exhaustive, soak and bulk runs, marked `full`
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tools.chromium import FLAGS, executable

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Before numpy is imported: its small products are no faster on several threads, and on a busy
# machine they are several times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


# A run in the background may have been told to ignore SIGINT, and its children would, too: those
# that are sent it by a test would not end.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="run the tests marked full, too")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "full: takes minutes; only part of a run with --full")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--full"):
        return
    left_out = [item for item in items if item.get_closest_marker("full")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the run: Playwright does not start twice in a process."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        yield browser
        browser.close()
