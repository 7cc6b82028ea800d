"""The part of precompile.mjs that runs inside Pyodide. Reads /package.zip, writes /out/*.zip."""

from __future__ import annotations

import importlib
import importlib.util
import marshal
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

MAJOR, MINOR = sys.version_info[:2]
STDLIB = f"/lib/python{MAJOR}{MINOR}.zip"
SITE_PACKAGES = f"/lib/python{MAJOR}.{MINOR}/site-packages"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
UNCHECKED_HASH_PYC = (1).to_bytes(4, "little")

# Found by name at run time, so that no import statement tells of them.
ENCODINGS = (
    "ascii", "cp437", "cp1252", "idna", "latin_1", "punycode", "raw_unicode_escape",
    "unicode_escape", "utf_8", "utf_8_sig", "utf_16", "utf_16_be", "utf_16_le", "utf_32",
    "utf_32_be", "utf_32_le",
)  # fmt: skip
# What a traceback or a warning is formatted with, imported at that moment.
AT_AN_ERROR = ("ast", "difflib", "linecache", "tokenize", "traceback", "warnings")
# Pyodide's own packages. Their docstrings and asserts stay: its C code reads them.
PYODIDE = ("_pyodide", "pyodide")
# Modules of the engine that cannot be imported here.
OTHER_HOSTS = ("tern_engine.kernels._wasmtime",)


def pyc(source: bytes, path: str, optimize: int) -> bytes:
    code = compile(source, path, "exec", dont_inherit=True, optimize=optimize)
    # Dumped twice: what the first dump marks as shared depends on the interpreter's state.
    body = marshal.dumps(marshal.loads(marshal.dumps(code)))
    return (
        importlib.util.MAGIC_NUMBER + UNCHECKED_HASH_PYC + importlib.util.source_hash(source) + body
    )


def write_zip(path: str, files: Iterable[tuple[str, bytes]]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(files):
            info = zipfile.ZipInfo(name, FIXED_DATE)
            info.external_attr = 0o644 << 16
            archive.writestr(info, content)


def compiled(
    source: zipfile.ZipFile, names: Iterable[str], root: str, optimize: int
) -> Iterable[tuple[str, bytes]]:
    """The named files of `source`, each .py replaced by its .pyc (same folder, Python's rule for
    packages without sources)."""
    for name in names:
        content = source.read(name)
        if not name.endswith(".py"):
            yield name, content
            continue
        keep = name.split("/")[0] in PYODIDE
        yield f"{name}c", pyc(content, f"{root}/{name}", 0 if keep else optimize)


def module_names(archive: zipfile.ZipFile, packages: Iterable[str]) -> list[str]:
    return sorted(
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in archive.namelist()
        if name.endswith(".py") and name.split("/")[0] in packages
    )


def loaded_files() -> set[str]:
    """Names inside the standard library's zip of every module imported so far."""
    origins = [getattr(module, "__file__", None) or "" for module in list(sys.modules.values())]
    return {o.removeprefix(f"{STDLIB}/") for o in origins if o.startswith(f"{STDLIB}/")}


def import_everything(stdlib: zipfile.ZipFile, package: zipfile.ZipFile) -> None:
    """Import what a page can come to need, so that loaded_files() is the list of it."""
    sys.path.insert(0, "/package.zip")
    names = [f"encodings.{name}" for name in ENCODINGS] + list(AT_AN_ERROR)
    names += module_names(stdlib, PYODIDE) + module_names(package, {"tern_engine"})
    for name in names:
        if name not in OTHER_HOSTS:
            importlib.import_module(name)


def main(part: str) -> None:
    """Write /out/*.zip of one part, as precompile.mjs says."""
    Path("/out").mkdir()
    stdlib, package = zipfile.ZipFile(STDLIB), zipfile.ZipFile("/package.zip")
    everything = [name for name in stdlib.namelist() if not name.endswith("/")]
    if part == "stdlib":
        write_zip("/out/python_stdlib.zip", compiled(stdlib, everything, STDLIB, 2))
    elif part == "engine":
        write_zip("/out/package.zip", compiled(package, package.namelist(), SITE_PACKAGES, 0))
        import_everything(stdlib, package)
        wanted = [name for name in everything if name in loaded_files()]
        write_zip("/out/python_stdlib_engine.zip", compiled(stdlib, wanted, STDLIB, 2))
    else:
        raise ValueError(f"part {part!r}: expected 'stdlib' or 'engine'")
