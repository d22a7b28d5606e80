"""Ranking of documents by a question."""
