"""What a build adds to the Python sources: the model, the vocabulary, the kernel, a stamp.

Used by the wheel's build hook (in an isolated environment that holds hatchling and ziglang only)
and by build.py, so this module and what it imports use nothing else.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.kernels import TABLES, compile_kernel

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "pyapp" / "tern_engine"
TOKENIZER = ROOT / "assets" / "tokenizer.json"
DEFAULT_MODEL = ROOT / "assets" / "model-int4.bin"


@contextmanager
def engine_modules(*names: str) -> Iterator[list[Any]]:
    """Submodules of this checkout's tern_engine, without importing the package itself.

    That would run the engine's code, and is refused where stamps of two builds lie about. An empty
    stand-in takes the package's place while the submodules are used: they import others as they go.
    """
    known = _forget_engine()
    stand_in = types.ModuleType("tern_engine")
    stand_in.__path__ = [str(PACKAGE)]
    sys.modules["tern_engine"] = stand_in
    try:
        yield [importlib.import_module(f"tern_engine.{name}") for name in names]
    finally:
        _forget_engine()
        sys.modules.update(known)


def _forget_engine() -> dict[str, types.ModuleType]:
    names = [name for name in sys.modules if name.split(".")[0] == "tern_engine"]
    return {name: sys.modules.pop(name) for name in names}


def vocabulary(tokenizer_json: Path = TOKENIZER) -> list[str]:
    """The pieces of a WordPiece tokenizer.json, in the order of their ids, without gaps."""
    pieces: dict[str, int] = json.loads(tokenizer_json.read_text("utf-8"))["model"]["vocab"]
    lines = sorted(pieces, key=pieces.__getitem__)
    if [pieces[line] for line in lines] != list(range(len(lines))):
        raise ValueError(f"{tokenizer_json.name}: the ids are not 0 ... {len(lines) - 1}")
    if any("\n" in line or "\r" in line for line in lines):
        raise ValueError(f"{tokenizer_json.name}: a piece of the vocabulary has a line break")
    return lines


def vocab_txt(lines: list[str]) -> bytes:
    """What a build has as vocab.txt. Raises InvalidInputError for a piece that is there twice or a
    special token that is not: the engine's load does not look for the former."""
    content = ("\n".join(lines) + "\n").encode()
    with engine_modules("pieces") as (pieces,):
        pieces.Pieces(lambda: content).tokenizer()
    return content


def model_table(model: Path) -> str:
    """The table format that a model's header states. Raises a TernError for another header."""
    with engine_modules("format") as (layout,):
        with model.open("rb") as file:
            first = file.read(layout.HEADER_BYTES)
        size = model.stat().st_size
        header = layout.read_header(first, size, build=None, vocab_size=None)
        return str(header.embedding_format)


def check_model(model: Path, table: str, vocab_size: int) -> str:
    """Check that `model` suits a build of format `table`; return its fingerprint, as the engine
    reports it: the SHA-256 of the whole file, hex.

    Raises a TernError: of the header's checks (MODEL_OTHER_BUILD for another table format), or
    MODEL_CHECKSUM when the trailer is not the SHA-256 of what precedes it.
    """
    content = model.read_bytes()
    with engine_modules("format", "errors") as (layout, errors):
        layout.read_header(content, len(content), build=table, vocab_size=vocab_size)
        body, trailer = content[: -layout.CHECKSUM_BYTES], content[-layout.CHECKSUM_BYTES :]
        actual = hashlib.sha256(body).digest()
        if actual != trailer:
            raise errors.ModelChecksumError(
                field="checksum",
                found=actual.hex(),
                expected=f"{trailer.hex()}, the file's trailer",
            )
    return hashlib.sha256(content).hexdigest()


def stamp(table: str, version: str, fingerprint: str, model_bytes: int) -> str:
    """Source text of _build_<table>.py, by which a build knows what it is."""
    return (
        '"""Which build this is. Written by the build."""\n\n'
        f'EMBEDDING: str = "{table}"\n'
        f'VERSION: str = "{version}"\n'
        f'MODEL_SHA256: str = "{fingerprint}"\n'
        f"MODEL_BYTES: int = {model_bytes}\n"
    )


def write_payload(
    table: str, version: str, model: Path, package: Path, kernel: Path | None = None
) -> dict[str, Path]:
    """Write a build's generated files under `package`, the tern_engine folder they belong to.

    kernel   an already compiled kernel of this table format; None compiles it
    Returns their paths inside the package -> where they were written. Raises as check_model and
    vocab_txt do before anything is written.
    """
    if table not in TABLES:
        raise ValueError(f"table format {table!r}: expected one of {', '.join(TABLES)}")
    lines = vocabulary()
    vocab = vocab_txt(lines)
    fingerprint = check_model(model, table, len(lines))
    names = (f"_build_{table}.py", "data/model.bin", "data/vocab.txt", "data/kernels.wasm")
    paths = {name: package / name for name in names}
    (package / "data").mkdir(parents=True, exist_ok=True)
    if kernel is None:
        compile_kernel(table, paths["data/kernels.wasm"])
    else:
        shutil.copyfile(kernel, paths["data/kernels.wasm"])
    shutil.copyfile(model, paths["data/model.bin"])
    paths["data/vocab.txt"].write_bytes(vocab)
    text = stamp(table, version, fingerprint, model.stat().st_size)
    paths[names[0]].write_text(text, "utf-8", newline="\n")
    return paths
