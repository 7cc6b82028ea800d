"""Writes tests/golden/vectors.json: texts, and the vectors that every host must give them.

    python tools/generate_golden_vectors.py            writes the file (after python3 build.py all)
    python tools/generate_golden_vectors.py --check    fails when the file is not current

The file belongs to one model (`model`, its fingerprint) and holds
    cases        a few texts with ids and vectors of the numpy reference, rounded to 7 digits:
                 what the engine must come close to
    texts        500 texts, and `sha256` of the engine's float32 bytes for them, one after another:
                 what it must give exactly, on CPython, Pyodide in Node, Chromium and workerd
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "pyapp")]

from tern_engine import Engine  # noqa: E402
from tern_tools.models.unpack import UnpackedModel  # noqa: E402

TARGET = ROOT / "tests" / "golden" / "vectors.json"
TOKENS = ROOT / "tests" / "golden" / "tokens.json"
CORPUS = ROOT / "assets" / "demo-corpus.json"
MODEL = ROOT / "assets" / "model-int4.bin"
COUNT = 500

CASES = [
    "",
    "a",
    "the quick brown fox jumps over the lazy dog",
    "The Quick Brown Fox Jumps Over The Lazy Dog!",
    "how do i get my money back",
    "refund policy for late trains",
    "ΟΔΟΣ",
    "𠀀𠮷野家",
    "[MASK] token",
    "caf\u00e9 na\u00efve r\u00e9sum\u00e9",
    "a lone \ud800 surrogate",
    "long " * 200,
]


def texts() -> list[str]:
    """The tokenizer's golden texts, sentences, and sentences joined to every length."""
    chosen = [
        case["text"] * case.get("repeat", 1)
        for case in json.loads(TOKENS.read_text("utf-8"))["texts"]
        if "repeat" not in case
    ]
    entries = json.loads(CORPUS.read_text("utf-8"))["entries"]
    sentences = [text.split(". ")[0] for *_, text in entries]
    chooser = random.Random(384)
    while len(chosen) < COUNT:
        chosen.append(" ".join(chooser.sample(sentences, chooser.choice([1, 1, 1, 2, 5]))))
    return chosen[:COUNT]


def golden() -> dict[str, Any]:
    """The content of the file."""
    engine = Engine.load(MODEL)
    reference = UnpackedModel.from_file(MODEL)
    digest = hashlib.sha256()
    for text in texts():
        digest.update(engine.embed(text).tobytes())
    cases = []
    for text in CASES:
        ids = engine.tokenize(text)
        vector = [round(float(value), 7) for value in reference.forward(ids)]
        cases.append({"text": text, "ids": ids, "vector": vector})
    return {
        "model": engine.fingerprint,
        "cases": cases,
        "sha256": digest.hexdigest(),
        "texts": texts(),
    }


def render(content: dict[str, Any]) -> str:
    """One case and one text a line, in ASCII: lone surrogates have no other form."""
    head = "".join(f' "{key}": {json.dumps(content[key])},\n' for key in ("model", "sha256"))
    cases = ",\n".join("  " + json.dumps(case) for case in content["cases"])
    lines = ",\n".join("  " + json.dumps(text) for text in content["texts"])
    return f'{{\n{head} "cases": [\n{cases}\n ],\n "texts": [\n{lines}\n ]\n}}\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    check = parser.parse_args().check
    text = render(golden())
    if not check:
        TARGET.write_text(text, encoding="utf-8", newline="\n")
        print(f"{TARGET.name}: {len(text)} bytes")
    elif TARGET.read_text(encoding="utf-8") != text:
        print(f"{TARGET.name} is not current: run python tools/generate_golden_vectors.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
