"""Rows of archives and pages in the store: queries, facts, checks."""
