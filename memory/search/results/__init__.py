"""Hits as they are shown: snippets, marks, what says the same, what contradicts."""
