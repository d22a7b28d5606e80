"""Conversations that were held elsewhere: read from a file, cleared, stored once."""

FORMATS = ("jsonl", "chatgpt", "claude")
"""What `import --from` takes."""
