"""Lifecycle of archives: archiving by age, deletion, moves, repacking."""
