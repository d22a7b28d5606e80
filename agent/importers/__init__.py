"""Import of conversations from files: read, cleared, and stored once."""

FORMATS = ("jsonl", "chatgpt", "claude", "claude-code", "codex", "chunks")
"""The values of `import --from`."""
