"""Knowledge: files that a person added, kept as memories, each with an importance, a use and an age (seed 001)."""
