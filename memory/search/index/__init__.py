"""The index of words: documents, postings in segments, and their upkeep."""
