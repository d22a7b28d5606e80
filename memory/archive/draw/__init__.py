"""From text to a page's picture: glyphs, cells, head lines, where a page ends."""
