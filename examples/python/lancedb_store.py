"""Documents in LanceDB, found by meaning: pip install lancedb 'tern-tools[parquet]'."""

import lancedb
import pyarrow as pa
import tern_engine
from tern_tools.arrow import embed_table

TEXTS = ["The ferry leaves at nine.", "Bread is baked every morning.", "The bank is closed."]

engine = tern_engine.Engine.load()
table = embed_table(pa.table({"text": TEXTS}), output="vector", engine=engine)
notes = lancedb.connect("notes.lance").create_table("notes", table)

query = notes.search(engine.embed("boat departure")).distance_type("cosine").limit(2)
for found in query.to_list():
    print(f"{1 - found['_distance']:.3f} {found['text']}")
