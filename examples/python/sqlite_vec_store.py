"""Documents in SQLite with sqlite-vec, found by meaning: pip install sqlite-vec apsw."""

import apsw  # as the sqlite3 of many a Python takes no extensions
import sqlite_vec
import tern_engine

TEXTS = ["The ferry leaves at nine.", "Bread is baked every morning.", "The bank is closed."]

engine = tern_engine.Engine.load()
store = apsw.Connection("notes.sqlite")
store.enable_load_extension(True)
store.load_extension(sqlite_vec.loadable_path())
store.execute(f"create virtual table notes using vec0(embedding float[{engine.dim}], +text text)")
rows = zip(engine.embed_batch(TEXTS), TEXTS, strict=True)
store.executemany("insert into notes (embedding, text) values (?, ?)", rows)

found = "select text, distance from notes where embedding match ? and k = 2 order by distance"
for text, distance in store.execute(found, [engine.embed("boat departure")]):
    print(f"{1 - distance**2 / 2:.3f} {text}")  # of two vectors of length 1, the cosine
