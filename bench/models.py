"""The .bin files that are measured: the committed model, and a wider one with random weights.

How long a forward pass takes does not depend on the weights' values.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from tern_engine.format import Header
from tern_tools.models import pack
from tern_tools.models.unpack import UnpackedModel

from tests.support import models as support

from . import bert
from .peer import CACHE, ROOT

OWN = ROOT / "assets" / "model-int4.bin"
WIDE = Header("int4", 30522, 384, 2, 6, 1536, 384, 128)
SEED = 384


def paths(cache: Path = CACHE) -> dict[int, Path]:
    """Width of the model → its file; the wide one is made when absent or outdated."""
    digest = hashlib.sha256(repr((WIDE, SEED)).encode())
    for source in (support.__file__, pack.__file__):
        digest.update(Path(source).read_bytes())
    wide = cache / f"random-{WIDE.d_model}-{digest.hexdigest()[:16]}.bin"
    if not wide.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = wide.with_suffix(".part")
        partial.write_bytes(support.random_model(WIDE, SEED))
        partial.replace(wide)
    return {256: OWN, WIDE.d_model: wide}


@lru_cache(maxsize=4)
def _unpacked(path: Path) -> UnpackedModel:
    return UnpackedModel.from_file(path)


def reference(path: Path, ids: tuple[int, ...]) -> bert.Array:
    """The reference's vector of a text's ids under the model of a file."""
    vector: bert.Array = _unpacked(path).forward(list(ids)).astype("float32")
    return vector


def multiply_adds(header: Header, tokens: int) -> int:
    """Of the ternary products and of attention, a forward pass."""
    d, ffn = header.d_model, header.ffn_dim
    return header.n_layers * tokens * (4 * d * d + 2 * d * ffn + 2 * tokens * d)


def header(path: Path) -> Header:
    return _unpacked(path).header
