"""What the tests of the benchmark share."""

from __future__ import annotations

from pathlib import Path

from bench import hosts

ROOT = Path(__file__).resolve().parents[2]
SIZES = (8, 12, 16, 32, 64, 128)  # tokens of the timed texts


def built_site() -> Path:
    assert hosts.SITE_MODULE.exists(), "python3 build.py all makes dist/web, which this test needs"
    return hosts.SITE_MODULE
