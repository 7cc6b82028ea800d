"""tern_tools.models.convert, for what imports it from here."""

from tern_tools.models.convert import convert

__all__ = ["convert"]
