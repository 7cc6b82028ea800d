"""Take the screenshots of the demo's panels: docs/screenshots.

    python3 build.py web
    .venv/bin/python -m tools.demo_screenshots [--out docs/screenshots] [--only search-390-dark]

A file a panel, width (1280, 390) and colour scheme, 256 colours each so that they stay small.
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from PIL import Image

from tools.chromium import FLAGS, executable
from tools.serve import HOST, running

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parent.parent
SIZES: dict[int, dict[str, Any]] = {
    1280: {"viewport": {"width": 1280, "height": 900}},
    390: {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "is_mobile": True,
        "has_touch": True,
    },
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
QUERY = "an instrument with black and white keys"
NOTES = {
    "garden.md": "# Tomatoes\n\nSow them indoors in March. Plant them out after the last frost.\n\n"
    "# Roses\n\nPrune the roses in February, above an outward bud.",
    "travel/ferry.txt": "The ferry to the island leaves at nine. It carries cars and bicycles.",
    "recipes.csv": "title,method\nPancakes,Whisk eggs with flour and milk. Fry in butter.\n"
    "Lentil soup,Simmer lentils with carrots and cumin.\n",
    "old scan.pdf": "%PDF-1.4 damaged",
}


def search(page: Page) -> None:
    page.locator("#query").fill(QUERY)
    page.locator("#results .best").first.wait_for()


def read(page: Page) -> None:
    search(page)
    page.locator("#results .hit").first.click()
    page.locator("#reader[open]").wait_for()


def show_map(page: Page) -> None:
    page.locator("[data-view=map]").click()
    page.locator("#map[data-points]:not([data-points='0'])").wait_for()
    page.locator("#map-query").fill(QUERY)
    page.locator("#map:not([data-query=''])").wait_for()


def compare(page: Page) -> None:
    page.locator("[data-view=compare]").click()
    page.locator("#count-b:not(:empty)").wait_for()


def classify(page: Page) -> None:
    page.locator("[data-view=classify]").click()
    page.locator("#scores li").first.wait_for()


def library(page: Page) -> None:
    page.locator("[data-view=library]").click()
    files: list[Any] = [
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
        for name, text in NOTES.items()
    ]
    page.locator("#files").set_input_files(files)
    page.locator("#sources li").first.wait_for()


PANELS: dict[str, Callable[[Page], None]] = {
    "search": search,
    "reader": read,
    "map": show_map,
    "compare": compare,
    "classify": classify,
    "library": library,
}


@contextmanager
def served() -> Iterator[str]:
    """The address of dist/web, served."""
    with running(ROOT / "dist" / "web") as server:
        yield f"http://{HOST}:{server.server_address[1]}/demo/"


def small(png: bytes) -> bytes:
    """The picture with 256 colours."""
    out = io.BytesIO()
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    # Small areas keep their colours (coverage), and so do large ones (k-means).
    few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the screenshots of the demo's panels.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--only", default="", help="only those whose names hold this")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    options.out.mkdir(parents=True, exist_ok=True)
    with served() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable(), args=FLAGS)
        for (width, size), scheme in product(SIZES.items(), SCHEMES):
            names = {panel: f"{panel}-{width}-{scheme}" for panel in PANELS}
            if not any(options.only in name for name in names.values()):
                continue
            with browser.new_context(
                **size, color_scheme=scheme, reduced_motion="reduce"
            ) as context:
                page = context.new_page()
                page.goto(url)
                page.locator("#engine[data-state=ready]").wait_for(timeout=120_000)
                for panel, name in names.items():
                    if options.only not in name:
                        continue
                    page.locator("[data-view=search]").click()
                    PANELS[panel](page)
                    page.mouse.move(0, 0)
                    page.wait_for_timeout(300)
                    picture = small(page.screenshot())
                    (options.out / f"{name}.png").write_bytes(picture)
                    print(f"{name}.png: {len(picture):,} bytes")
                    page.keyboard.press("Escape")
        browser.close()


if __name__ == "__main__":
    main()
