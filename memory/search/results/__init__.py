"""Presentation of hits: snippets, highlights, duplicates, contradictions."""
