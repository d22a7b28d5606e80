"""Knowledge: files that a person added, each a memory with importance, access count and age (seed 001)."""
