"""Dates and date ranges in English and Chinese text."""
