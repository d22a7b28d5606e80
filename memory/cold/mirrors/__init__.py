"""Mirrors: conversations as readable Markdown beside the store, and their recovery from it."""
