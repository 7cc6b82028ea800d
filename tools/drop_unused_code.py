"""Run by snapshot.mjs inside Pyodide, before memory is kept: drops what no page can need any more.

Pyodide imports a good part of the standard library that the engine never calls, and much was needed
only to import the rest. Those modules stay, with their names and classes; their functions' code is
replaced by one that raises NotImplementedError. Docstrings go, of all modules.
"""

import contextlib
import gc
import sys
import types

# Modules, with those in them, whose functions the engine calls neither itself nor by way of others.
UNUSED = (
    "_pyodide._core_docs", "annotationlib", "ast", "asyncio", "base64", "bz2", "compression",
    "concurrent", "dataclasses", "difflib", "dis", "fnmatch", "glob", "inspect", "locale",
    "logging", "lzma", "opcode", "pathlib", "pyodide._package_loader", "pyodide.console",
    "pyodide.http", "pyodide.webloop", "random", "selectors", "shutil", "socket", "ssl", "string",
    "subprocess", "tempfile", "textwrap", "threading", "tokenize", "typing", "zipfile",
)  # fmt: skip


def is_unused(module: object) -> bool:
    return isinstance(module, str) and f"{module}.".startswith(tuple(f"{m}." for m in UNUSED))


def dropped(*_args: object, **_options: object) -> object:
    raise NotImplementedError("the snapshot has no code for this: the engine never calls it")


def drop_unused_code() -> None:
    # One for all functions that close over as many variables.
    stubs: dict[int, types.CodeType] = {}
    for thing in [*gc.get_objects(), *sys.modules.values()]:
        if isinstance(thing, types.FunctionType) and is_unused(thing.__module__):
            count = len(thing.__code__.co_freevars)
            if count not in stubs:
                variables = tuple(f"v{i}" for i in range(count))
                stubs[count] = dropped.__code__.replace(co_freevars=variables)
            thing.__code__ = stubs[count]
        if isinstance(thing, (types.FunctionType, types.ModuleType, type)):
            with contextlib.suppress(TypeError):  # a type of C's
                thing.__doc__ = None


drop_unused_code()
