"""What is remembered: hot Markdown, the cold store, the archive, and the search over all three."""
