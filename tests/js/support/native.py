"""Where the C structures of all modules written in C lie, for runtime.test.mjs."""

import importlib
import json
import sys
import types


def subclasses(cls: type, found: dict[int, type]) -> dict[int, type]:
    below: list[type] = type.__subclasses__(cls)
    for sub in below:
        if id(sub) not in found:
            found[id(sub)] = sub
            subclasses(sub, found)
    return found


def addresses() -> str:
    """JSON of {types, functions, modules}: addresses of such objects, after all modules of
    sys.builtin_module_names were imported."""
    modules = [importlib.import_module(name) for name in sys.builtin_module_names]
    classes = subclasses(object, {id(object): object})
    owners = [*modules, *classes.values()]
    members = [value for owner in owners for value in list(vars(owner).values())]
    functions = {
        id(value)
        for value in (getattr(member, "__func__", member) for member in members)
        if type(value) is types.BuiltinFunctionType
    }
    found = {
        "types": list(classes),
        "functions": list(functions),
        "modules": [id(module) for module in modules],
        "names": list(sys.builtin_module_names),
    }
    return json.dumps(found)
