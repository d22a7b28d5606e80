"""Searching as one types: the field, what is found, what stands around it."""
