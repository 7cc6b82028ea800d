"""Scores of a model file, the teacher or a checkpoint on open sets."""
