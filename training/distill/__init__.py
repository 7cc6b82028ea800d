"""Distillation of a small ternary student from all-MiniLM-L6-v2."""
