"""Vim keys for the prompt."""
