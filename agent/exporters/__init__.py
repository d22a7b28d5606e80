"""Conversations written out: Markdown to read, JSONL to take elsewhere and back."""
