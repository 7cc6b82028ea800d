"""The one JSON text of a value: docs/index-format.md, section 2."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from tern_engine.errors import InvalidInputError

from ._check import check, check_string

# How deep values may nest; the outermost counts as 1.
MAX_DEPTH = 64
# Every integer of so many digits is a binary64.
_EXACT_DIGITS = 15

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile('[\0-\x1f"\\\\\ud800-\udfff]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def whole(text: str) -> str:
    """`text` with each pair of surrogates as the one character that it means."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def canonical_json(value: Any, name: str = "value", depth: int = 1) -> str:
    """The canonical text of None, a bool, a finite number, a str, a list or a dict of such.

    `name` is what messages call the value, `depth` how deep it is nested itself. Raises
    InvalidInputError for anything else, cycles included.
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, (int, float)):
        return _number(value, name)
    check(
        isinstance(value, (list, tuple, Mapping)),
        f"{name} must be a JSON value, found {type(value).__name__}",
    )
    check(depth <= MAX_DEPTH, f"{name} is nested deeper than {MAX_DEPTH} levels")
    if not isinstance(value, Mapping):
        items = (canonical_json(item, f"{name}[{i}]", depth + 1) for i, item in enumerate(value))
        return f"[{','.join(items)}]"
    members = {}
    for key, member in value.items():
        check_string(key, f"a key of {name}")
        check(whole(key) not in members, f"{name} has the key {key!r} twice")
        members[whole(key)] = member
    keys = sorted(members, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    parts = (
        f"{_string(key)}:{canonical_json(members[key], f'{name}.{key}', depth + 1)}" for key in keys
    )
    return f"{{{','.join(parts)}}}"


def parse_json(text: str) -> Any:
    """The value of a JSON text as JavaScript has it: numbers are binary64. Raises ValueError."""
    return json.loads(text, parse_int=_parse_int, parse_constant=_refuse_constant)


def _parse_int(digits: str) -> int | float:
    return int(digits) if len(digits) <= _EXACT_DIGITS else float(digits)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _string(text: str) -> str:
    return f'"{_ESCAPED.sub(_escape, whole(text))}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _SHORT.get(character) or f"\\u{ord(character):04x}"


def _number(value: int | float, name: str) -> str:
    """As JavaScript's String(number)."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    check(math.isfinite(number), f"{name} must be a finite number, found {value}")
    if number != value:
        raise InvalidInputError(f"{name} is {value}, which no binary64 number equals")
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)  # value = 0.text * 10 ** point
    text = text.rstrip("0")
    if len(text) <= point <= 21:
        out = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        out = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        out = f"0.{'0' * -point}{text}"
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        out = f"{text[0]}{fraction}e{point - 1:+d}"
    return "-" * sign + out
