"""tern_tools.models.pack, for what imports it from here."""

from tern_tools.models.pack import load_tensors, pack, tensor_shapes

__all__ = ["load_tensors", "pack", "tensor_shapes"]
