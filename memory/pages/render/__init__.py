"""Text to pixels: layout, cells, header lines, PNG."""
