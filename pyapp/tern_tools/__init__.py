"""Search, similarity and classification over the Tern engine's embeddings.

    import tern_engine, tern_tools
    engine = tern_engine.Engine.load()
    index = tern_tools.SearchIndex(engine)
    index.add([{"id": "1", "text": "The ferry leaves at nine."}])
    best = index.query("boat departure")[0]

Results and index files are those of the JavaScript library, to the last bit.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("tern_engine") is None:
    raise ModuleNotFoundError(
        "tern-tools needs a build of the engine: pip install 'tern-engine-emb-int4[native]'"
    )

from .classify import Classifier, LabelScore, classify
from .documents import Document
from .pool import EnginePool
from .search import SearchIndex
from .search_types import Changes, Passage, Result
from .sentence_model import SentenceModel
from .sentences import split_sentences
from .similarity import similarity

__all__ = [
    "Changes",
    "Classifier",
    "Document",
    "EnginePool",
    "LabelScore",
    "Passage",
    "Result",
    "SearchIndex",
    "SentenceModel",
    "classify",
    "similarity",
    "split_sentences",
]
__version__ = "0.1.0"
