"""Conversations that were held elsewhere: read from a file, cleared, stored once."""
