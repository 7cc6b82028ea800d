"""tern_tools.models.unpack, for what imports it from here."""

from tern_tools.models.unpack import UnpackedModel, attention, gelu, layer_norm

__all__ = ["UnpackedModel", "attention", "gelu", "layer_norm"]
