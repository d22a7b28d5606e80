"""Readers: one file a kind. Each takes a file's bytes and gives its text, and where in the file it stands."""
