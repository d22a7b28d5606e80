"""Queries: parsing, syntax, filters, and date-only questions."""
