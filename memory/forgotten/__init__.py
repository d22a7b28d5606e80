"""What was forgotten here, without a word of it.

tombstones    entries that are forgotten, by hashes: imports and sync ask before they bring one
"""
