"""Import of conversations from files: read, cleared, and stored once."""

FORMATS = ("jsonl", "chatgpt", "claude", "claude-code", "codex", "gemini", "opencode", "chunks")
"""The values of `import --from`."""
