"""docs/tutorial.ipynb runs, its outputs are current, and its index ranks the same in a page."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.site import ROOT, SITE, running_site

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
LINE = re.compile(r"^(.+?) (\[\(.+\)\])$", re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A checkout in which the notebook ran."""
    folder = tmp_path_factory.mktemp("tutorial")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("screenshots"))
    (folder / "dist").mkdir()
    (folder / "dist" / "web").symlink_to(SITE)
    notebook = folder / "docs" / NOTEBOOK.name
    cells = json.loads(notebook.read_text("utf-8"))
    for cell in cells["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    notebook.write_text(json.dumps(cells))
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/run_tutorial.py"), str(notebook)],
        env={
            **os.environ,
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    yield folder
    shutil.rmtree(folder)  # with a copy of the site


def outputs(path: Path) -> list[Any]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def rankings(path: Path) -> dict[str, list[tuple[str, float]]]:
    """What the notebook printed: question → ids and scores."""
    printed = json.dumps(outputs(path))
    texts = ["".join(each.get("text", "")) for cell in outputs(path) for each in cell]
    found = {question: ast.literal_eval(hits) for question, hits in LINE.findall("".join(texts))}
    assert len(found) == 3, printed
    return found


def test_its_outputs_are_current(folder: Path) -> None:
    """If not: .venv/bin/python tools/run_tutorial.py"""
    assert outputs(folder / "docs" / NOTEBOOK.name) == outputs(NOTEBOOK)


def test_the_page_ranks_as_the_notebook(folder: Path, page: Page) -> None:
    expected = rankings(folder / "docs" / NOTEBOOK.name)
    assert len({hits[0][0] for hits in expected.values()}) == 3
    with running_site(folder / "build" / "tutorial") as site:
        page.goto(site.url + "tutorial.html")
        expect(page.locator("#status")).to_have_text("6 documents")
        for question, hits in expected.items():
            page.get_by_label("Question").fill(question)
            page.keyboard.press("Enter")
            expect(page.locator("#status")).to_have_text(f"Answers to “{question}”")
            items = page.locator("#results li").all()
            assert [item.get_attribute("id") for item in items] == [id for id, _ in hits]
            shown = [float((item.text_content() or "").split("(")[1][:-1]) for item in items]
            assert shown == pytest.approx([score for _, score in hits], abs=0.0101)


def test_what_it_asks_to_install_is_built() -> None:
    text = NOTEBOOK.read_text("utf-8")
    wheels = re.findall(r"dist/(?:tern_\w+)-[\d.]+-py3-none-any\.whl", text)
    assert len(wheels) == 2
    assert [wheel for wheel in wheels if not (ROOT / wheel).is_file()] == []
