"""The tools of memory: search it, list what happened around a moment, recall a passage, remember a note.

Passages are JSON: their source and their trust are fields of their own, which no text of a passage can imitate.
"""
