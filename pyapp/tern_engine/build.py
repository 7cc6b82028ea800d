"""Which build this is: the installed wheel says so in a module that names its table format."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from .errors import BuildConflictError, BuildMissingError
from .format import EMBEDDING_FORMATS


@dataclass(frozen=True)
class Build:
    """embedding: table format; model_sha256: fingerprint of the baked model, hex."""

    embedding: str
    version: str
    model_sha256: str
    model_bytes: int


def find_build() -> Build:
    """The one build present. Raises BuildMissingError at none, BuildConflictError at several."""
    build = installed_build()
    if build is None:
        raise BuildMissingError(
            "this copy of tern_engine holds no model and no kernel, expected one build: run "
            "python3 build.py all in a checkout, or install a tern-engine-emb-* wheel"
        )
    return build


@cache
def installed_build() -> Build | None:
    """The one build present, None in a checkout that was not built, BuildConflictError at several.

    Every wheel installs the same package name, so a second one overwrites most of the first; only
    `_build_<format>.py` of each survives, which is how the mixture is told.
    """
    present = [name for name in EMBEDDING_FORMATS if find_spec(f"{__package__}._build_{name}")]
    if not present:
        return None
    if len(present) > 1:
        names = " and ".join(f"tern-engine-emb-{name}" for name in present)
        raise BuildConflictError(
            f"{names} are installed together, expected one build: uninstall all of them, "
            "then install the one you want"
        )
    module = import_module(f"{__package__}._build_{present[0]}")
    return Build(module.EMBEDDING, module.VERSION, module.MODEL_SHA256, module.MODEL_BYTES)
