"""In Pyodide: the version of the engine that is installed, and the length of a vector of it."""

import importlib.metadata
import json

import tern_engine

json.dumps([importlib.metadata.version("tern-engine-emb-int4"), len(tern_engine.embed("a tern"))])
