"""Transcript of the conversation: Markdown rendered once, and the end of it while it streams."""
