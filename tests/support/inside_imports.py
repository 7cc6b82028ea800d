"""In Pyodide: imports all `modules`, and makes what an error or a warning is formatted with."""

import importlib
import io
import json
import sys
import traceback
import warnings

from __main__ import modules

for name in modules:
    importlib.import_module(name)
try:
    eval("(1 +")
except SyntaxError:
    syntax = traceback.format_exc()
try:
    json.loads("{]")
except ValueError:
    nested = traceback.format_exc()
out, sys.stderr = sys.stderr, io.StringIO()
warnings.warn("careful", stacklevel=1)
warned, sys.stderr = sys.stderr.getvalue(), out
words = ["naïve".encode(c) for c in ("utf-16", "utf-32", "latin-1", "cp1252", "idna", "utf-8-sig")]
places = json.dumps.__code__.co_positions()
positions = {(line is None, column is None) for line, _, column, _ in places}
json.dumps([syntax, nested, warned, len(words), sorted(positions)])
