"""Text to page images and back, with no store: fonts, drawing, reading, and what a page costs a model."""
