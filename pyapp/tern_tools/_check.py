"""Checks of arguments."""

from __future__ import annotations

from typing import Any

from tern_engine.errors import InvalidInputError


def check(condition: object, message: str) -> None:
    """InvalidInputError with the message unless the condition holds."""
    if not condition:
        raise InvalidInputError(message)


def check_string(value: Any, name: str) -> None:
    """InvalidInputError unless `value` is a str."""
    check(isinstance(value, str), f"{name} must be a str, found {type(value).__name__}")
