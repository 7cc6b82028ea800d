"""Run inside Pyodide by pyodide.test.mjs: what the installed package says of itself."""

import json
import sys


def facts(text, wrong):
    import tern_engine

    vector = tern_engine.embed("hi")
    summary = json.loads(tern_engine.config_summary())
    try:
        tern_engine.embed(wrong)
    except tern_engine.TernError as error:
        code = error.code
    return json.dumps(
        {
            "type": type(vector).__name__,
            "typecode": vector.typecode,
            "length": len(vector),
            "numpy": "numpy" in sys.modules,
            "hi": tern_engine.tokenize("hi"),
            "fingerprint": summary["fingerprint"],
            "build": summary["build"],
            "code": code,
            "again": list(tern_engine.embed(text)) == list(tern_engine.embed(text)),
        }
    )


facts  # noqa: B018 - what runPython returns
