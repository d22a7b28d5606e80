"""From a picture back to text: the cell reader, the nearest glyph, OCR on the known grid, and how far to trust each."""
