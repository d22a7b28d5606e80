"""Integrity of the store: hashes and seals of rows, checks, repair, salvage."""
