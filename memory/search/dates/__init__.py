"""Dates: those that a question speaks of, and those that a person types."""
