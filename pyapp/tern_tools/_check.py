"""Checks of arguments."""

from __future__ import annotations

from typing import Any

from tern_engine.errors import InvalidInputError


def check(condition: object, message: str) -> None:
    """InvalidInputError with the message unless the condition holds."""
    if not condition:
        raise InvalidInputError(message)


def check_engine(engine: Any, protocol: Any) -> None:
    """InvalidInputError unless `engine` has what the runtime-checkable protocol asks for."""
    check(
        isinstance(engine, protocol) and not isinstance(engine, type),
        f"engine must be an Engine, an EnginePool or have their methods, found "
        f"{engine.__name__ if isinstance(engine, type) else type(engine).__name__}",
    )


def check_callable(value: Any, name: str) -> None:
    """InvalidInputError unless `value` can be called or is None."""
    check(
        value is None or callable(value),
        f"{name} must be a function or None, found {type(value).__name__}",
    )


def listed(values: Any, name: str, expected: str = "a sequence of str") -> list[Any]:
    """The items of an iterable. Raises InvalidInputError for what is none, and for str or bytes."""
    try:
        items = None if isinstance(values, (str, bytes)) else iter(values)
    except TypeError:
        items = None
    if items is None:
        raise InvalidInputError(field=name, found=type(values).__name__, expected=expected)
    return list(items)


def check_string(value: Any, name: str) -> None:
    """InvalidInputError unless `value` is a str."""
    check(isinstance(value, str), f"{name} must be a str, found {type(value).__name__}")
