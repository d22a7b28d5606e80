"""Pixels to text: by our own cells, by the nearest glyph, by OCR."""
