"""tern_tools.models.verify, for what imports it from here."""

from tern_tools.models.verify import SAMPLE, Comparison, compare

__all__ = ["SAMPLE", "Comparison", "compare"]
