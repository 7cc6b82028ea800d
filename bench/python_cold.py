"""One cold start on CPython, in a fresh process: python -m bench.python_cold

Prints JSON: milliseconds of importing the package, of loading the model, of the first vector, and
the sum of these.
"""

from __future__ import annotations

import json
import time


def main() -> None:
    start = time.perf_counter()
    import tern_engine

    imported = time.perf_counter()
    engine = tern_engine.Engine.load()
    loaded = time.perf_counter()
    engine.embed("How do I change a flat tire?")
    done = time.perf_counter()
    marks = {
        "import_ms": imported - start,
        "load_ms": loaded - imported,
        "embed_ms": done - loaded,
        "ms": done - start,
    }
    print(json.dumps({name: 1000 * seconds for name, seconds in marks.items()}))


if __name__ == "__main__":
    main()
