"""The Chromium that tests, measurements and screenshots start."""

from __future__ import annotations

import shutil

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def executable() -> str | None:
    """That of the system; None where there is none: then playwright's own is to be taken."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)
