"""Checkpoints: each file that a tool changes is versioned before, so that it can be restored."""
