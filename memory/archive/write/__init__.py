"""Archiving: entries and texts to pages in packs, each passage once."""
