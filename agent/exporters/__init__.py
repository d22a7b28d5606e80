"""Export of conversations: Markdown to read, JSONL to import elsewhere."""
