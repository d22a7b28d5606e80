"""Others' memories and plain ways to search, asked the same questions over the same turns with the same embedder."""
