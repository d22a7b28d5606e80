"""Conversations as readable Markdown beside the store, and the way back from there."""
