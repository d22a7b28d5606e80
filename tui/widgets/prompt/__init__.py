"""Prompt: the editor, its history and its completion."""
