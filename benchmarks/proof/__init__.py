"""What benchmarks.retrieval is made of: asking, figures, and how they are printed."""
