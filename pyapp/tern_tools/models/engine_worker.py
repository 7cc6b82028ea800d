"""Run by engine_process.py in a Python of its own, whose path holds one build of the engine.

One JSON object a line. In: {"model": path, "texts": [...]}; "texts" may be left out to load only.
Out: {"code", "message"} of the TernError that came, or {"ids": [[...], ...], "vectors": float32
bytes as base64, text after text, "fingerprint", "summary"}.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    # Inside, so that a build that cannot be imported is an answer too.
    from tern_engine.errors import TernError

    try:
        from tern_engine import Engine

        engine = Engine.load(Path(request["model"]).read_bytes())
        try:
            texts = request.get("texts", [])
            return {
                "ids": [list(map(int, engine.tokenize(text))) for text in texts],
                "vectors": base64.b64encode(
                    b"".join(bytes(memoryview(engine.embed(text)).cast("B")) for text in texts)
                ).decode(),
                "fingerprint": engine.fingerprint,
                "summary": engine.config_summary(),
            }
        finally:
            engine.dispose()
    except TernError as error:
        return {"code": error.code, "message": str(error)}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
