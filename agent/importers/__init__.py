"""Import of conversations from files: read, cleared, and stored once."""

FORMATS = ("jsonl", "chatgpt", "claude", "chunks")
"""The values of `import --from`."""
