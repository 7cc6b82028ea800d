"""The folder that the browser's part is served from: dist/web, and bench/ in it.

bench/pages, bench/js     this folder's, as they are
bench/peer                transformers.js, its runtime and its model
bench/models, …           what the race needs
bench/plain               a manifest without a snapshot, where the site has one

Like dist/web it has compressed files beside the larger ones.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tools.compress import compress
from tools.serve import HOST, running
from tools.website import COMPRESSED

from .peer import CACHE, ROOT

SITE = ROOT / "dist" / "web"
HERE = Path(__file__).parent
NODE_MODULES = HERE / "node_modules"
TRANSFORMERS = NODE_MODULES / "@huggingface" / "transformers" / "dist" / "transformers.min.js"
RUNTIME = NODE_MODULES / "onnxruntime-web" / "dist"
BINARIES = ("ort-wasm-simd-threaded", "ort-wasm-simd-threaded.asyncify")
PEER = "all-MiniLM-L6-v2"


def assemble(minilm: Path, config: Path, others: Mapping[str, Path], out: Path) -> None:
    """Write the folder `out`, emptied first.

    minilm, config   the peer's ONNX file, and the config.json of the model that it was made from
    others           path in bench/ → file
    """
    if out.exists():
        shutil.rmtree(out)
    # Links instead of copies: nothing is written to them.
    shutil.copytree(SITE, out, copy_function=_link)
    bench = out / "bench"
    for name in ("pages", "js"):
        shutil.copytree(HERE / name, bench / name)
    peer = bench / "peer"
    model = peer / "models" / PEER
    (model / "onnx").mkdir(parents=True)
    _link(TRANSFORMERS, peer / TRANSFORMERS.name)
    for name in BINARIES:
        for ending in (".mjs", ".wasm"):
            _link(RUNTIME / f"{name}{ending}", peer / f"{name}{ending}")
    _link(minilm, model / "onnx" / "model_quantized.onnx")
    _link(config, model / "config.json")
    _link(ROOT / "assets" / "tokenizer.json", model / "tokenizer.json")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}
    (model / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    compress(bench, COMPRESSED)
    for name, source in others.items():
        (bench / name).parent.mkdir(parents=True, exist_ok=True)
        _link(source, bench / name)
    _without_snapshot(out)


def _without_snapshot(out: Path) -> None:
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    files = {role: entry for role, entry in manifest["files"].items() if role != "snapshot"}
    plain = out / "bench" / "plain"
    plain.mkdir()
    moved = {role: {**entry, "path": f"../../{entry['path']}"} for role, entry in files.items()}
    (plain / "manifest.json").write_text(json.dumps({**manifest, "files": moved}), "utf-8")


def _link(source: str | Path, target: str | Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another disk
        shutil.copyfile(source, target)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The folder's address while it is served, ending in "/"."""
    with running(folder) as server:
        yield f"http://{HOST}:{server.server_address[1]}/"


def folder(cache: Path = CACHE) -> Path:
    return cache / "site"
