"""Documents in an index file that Python and web/search.js read alike."""

from pathlib import Path

import tern_engine
from tern_tools import SearchIndex

TEXTS = ["The ferry leaves at nine.", "Bread is baked every morning.", "The bank is closed."]

engine = tern_engine.Engine.load()
index = SearchIndex(engine)
index.add([{"id": str(i), "text": text} for i, text in enumerate(TEXTS)])
Path("notes.index").write_bytes(index.save())

for found in SearchIndex.load(engine, Path("notes.index").read_bytes()).query("boat departure", 2):
    print(f"{found.score:.3f} {found.document.text}")
