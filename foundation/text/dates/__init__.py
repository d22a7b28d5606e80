"""Dates and spans in words, English and Chinese."""
