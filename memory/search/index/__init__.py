"""Term index: documents, postings in segments, and their maintenance."""
