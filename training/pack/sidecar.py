"""tern_tools.models.sidecar, for what imports it from here."""

from tern_tools.models.sidecar import describe

__all__ = ["describe"]
