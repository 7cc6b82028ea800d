"""Embed the demo's corpus with the native engine, so that the page can search at once.

    PYTHONPATH=pyapp python3 -m tools.build_demo_index [--corpus FILE] --out FILE

The file is a search index (docs/index-format.md) with int8 vectors, a document a passage. Every
host computes the same bits and writes the same bytes, so it is what a browser would have made.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent


def documents(corpus: dict[str, Any]) -> list[dict[str, Any]]:
    """The corpus as an index takes it: the text is embedded, the title counts for keywords."""
    return [
        {
            "id": str(number),
            "text": text,
            "title": title,
            "source": corpus["address"] + quote(title.replace(" ", "_"), safe="(),:'!"),
            "meta": {"topic": topic, "about": about},
        }
        for number, (title, topic, about, text) in enumerate(corpus["entries"])
    ]


def build_index(corpus: dict[str, Any], engine: Any) -> bytes:
    """The index file of a corpus."""
    from tern_tools import SearchIndex

    index = SearchIndex(engine, vectors="int8")
    index.add(documents(corpus))
    return index.save()


def main() -> None:
    parser = argparse.ArgumentParser(description="Embed the demo's corpus.")
    parser.add_argument("--corpus", type=Path, default=ROOT / "assets" / "demo-corpus.json")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    # The engine is the build's, which comes first in the path; tern_tools is in the sources only.
    sys.path.append(str(ROOT / "pyapp"))
    from tern_engine import Engine

    options.out.parent.mkdir(parents=True, exist_ok=True)
    file = build_index(json.loads(options.corpus.read_text("utf-8")), Engine.load())
    options.out.write_bytes(file)
    print(f"{options.out.name}: {len(file):,} bytes")


if __name__ == "__main__":
    main()
