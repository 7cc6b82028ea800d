"""The part of snapshot.mjs that runs inside Pyodide: imports all that a page can come to need, and
makes what every engine shares.

A page that goes on from the snapshot has the engine's package beside it, but no standard library.
"""

import importlib
import sys
import zipfile

# Found by name at run time, so that no import statement tells of them.
ENCODINGS = (
    "ascii", "cp437", "latin_1", "raw_unicode_escape", "unicode_escape", "utf_8", "utf_8_sig",
    "utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le",
)  # fmt: skip
# What a traceback or a warning is formatted with, imported at that moment.
AT_AN_ERROR = ("ast", "difflib", "linecache", "tokenize", "traceback", "warnings")
# Modules of the engine that cannot be imported here.
OTHER_HOSTS = ("tern_engine.kernels._wasmtime",)

[package] = [path for path in sys.path if path.endswith("packages.zip")]
with zipfile.ZipFile(package) as archive:
    engine = [
        name.removesuffix(".pyc").removesuffix("/__init__").replace("/", ".")
        for name in sorted(archive.namelist())
        if name.endswith(".pyc")
    ]
for name in [f"encodings.{encoding}" for encoding in ENCODINGS] + [*AT_AN_ERROR, *engine]:
    if name not in OTHER_HOSTS:
        importlib.import_module(name)
importlib.import_module("tern_engine.engine").own_pieces()
