"""Documents in a FAISS index, found by meaning: pip install faiss-cpu."""

import faiss
import tern_engine

TEXTS = ["The ferry leaves at nine.", "Bread is baked every morning.", "The bank is closed."]

engine = tern_engine.Engine.load()
index = faiss.IndexFlatIP(engine.dim)  # of vectors of length 1, the inner product is the cosine
index.add(engine.embed_batch(TEXTS))
faiss.write_index(index, "notes.faiss")

scores, rows = faiss.read_index("notes.faiss").search(engine.embed_batch(["boat departure"]), 2)
for score, row in zip(scores[0], rows[0], strict=True):
    print(f"{score:.3f} {TEXTS[row]}")
