"""An index made in Python and one made by web/search.js: the same bytes and the same ranking."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from tern_engine import Engine
from tern_tools import SearchIndex

ROOT = Path(__file__).parents[2]
QUERIES = ["how do i get my money back", "a boat to the island", "", "wo ist der Bahnhof"]

MAKE = """
import { readFileSync, writeFileSync } from "node:fs";
import { load } from "./dist/web/tern-engine.js";
import { SearchIndex } from "./dist/web/search.js";
const { documents, queries, kind, out } = JSON.parse(readFileSync(0, "utf8"));
const engine = await load();
const index = new SearchIndex(engine, { vectors: kind });
await index.add(documents);
writeFileSync(out, await index.save());
const results = [];
for (const query of queries) {
  const found = await index.query(query, { k: 20 });
  results.push(found.map(({ id, score, passage }) => [id, score, passage.start, passage.end]));
}
console.log(JSON.stringify(results));
engine.dispose();
"""


@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_the_same_file_and_ranking(tmp_path: Path, kind: str) -> None:
    corpus = json.loads((ROOT / "assets" / "demo-corpus.json").read_text("utf-8"))
    sentences = [text for text in _strings(corpus) if " " in text][:120]
    documents = [
        {"id": f"d{i}", "text": text, "title": f"🙂 {i}", "meta": {"n": i / 8, "even": i % 2 == 0}}
        for i, text in enumerate(sentences)
    ]
    documents.append({"id": "long", "text": "\n\n".join(sentences)})
    documents.append({"id": "again", "text": sentences[0]})
    node = shutil.which("node")
    assert node
    out = tmp_path / "browser.index"
    given = {"documents": documents, "queries": QUERIES, "kind": kind, "out": str(out)}
    done = subprocess.run(
        [node, "--input-type=module", "-e", MAKE],
        cwd=ROOT,
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    engine = Engine.load()
    index = SearchIndex(engine, vectors=kind)
    index.add(documents)
    assert index.passage_count > len(documents) + 5
    assert index.save() == out.read_bytes()
    loaded = SearchIndex.load(engine, out.read_bytes())
    for query, expected in zip(QUERIES, json.loads(done.stdout), strict=True):
        for each in (index, loaded):
            found = each.query(query, 20)
            rows = [[hit.id, hit.score, hit.passage.start, hit.passage.end] for hit in found]
            assert rows == expected
    engine.dispose()


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for each in inner for text in _strings(each)]
