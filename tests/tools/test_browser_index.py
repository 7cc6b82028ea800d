"""An index made in Python and one made by web/search.js: the same bytes and the same ranking."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tern_engine import Engine
from tern_tools import SearchIndex

from tests.browser.site import ROOT, content, running_site

SCRIPT = Path(__file__).with_name("make_index.mjs")
QUERIES = ["how do i get my money back", "a boat to the island", "", "wo ist der Bahnhof"]


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    corpus = json.loads((ROOT / "assets" / "demo-corpus.json").read_text("utf-8"))
    sentences = [text for text in _strings(corpus) if " " in text][:120]
    documents: list[dict[str, Any]] = [
        {"id": f"d{i}", "text": text, "title": f"🙂 {i}", "meta": {"n": i / 8, "even": i % 2 == 0}}
        for i, text in enumerate(sentences)
    ]
    documents.append({"id": "long", "text": "\n\n".join(sentences)})
    documents.append({"id": "again", "text": sentences[0]})
    return documents


def check(documents: list[dict[str, Any]], kind: str, made: dict[str, Any]) -> None:
    """Python makes that file of the documents, and finds the same in it."""
    engine = Engine.load()
    index = SearchIndex(engine, vectors=kind)
    index.add(documents)
    assert index.passage_count > len(documents) + 5
    file = bytes.fromhex(made["file"])
    assert index.save() == file
    loaded = SearchIndex.load(engine, file)
    for query, expected in zip(QUERIES, made["results"], strict=True):
        for each in (index, loaded):
            found = each.query(query, 20)
            rows = [[hit.id, hit.score, hit.passage.start, hit.passage.end] for hit in found]
            assert rows == expected
    engine.dispose()


@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_the_same_file_and_ranking_in_node(documents: list[dict[str, Any]], kind: str) -> None:
    node = shutil.which("node")
    assert node
    done = subprocess.run(
        [node, str(SCRIPT), "--stdin"],
        input=json.dumps({"documents": documents, "queries": QUERIES, "kind": kind}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    check(documents, kind, json.loads(done.stdout))


def test_the_same_file_and_ranking_in_a_page(
    documents: list[dict[str, Any]], browser: Browser
) -> None:
    given = {"documents": documents, "queries": QUERIES, "kind": "float32"}
    with running_site() as site, browser.new_context() as context:
        site.answers["/make_index.js"] = content(SCRIPT.read_bytes(), "text/javascript")
        page = context.new_page()
        page.goto(site.url + "blank.html")
        script = "async (g) => (await import('./make_index.js')).makeIndex('.', g)"
        check(documents, "float32", page.evaluate(script, given))


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for each in inner for text in _strings(each)]
