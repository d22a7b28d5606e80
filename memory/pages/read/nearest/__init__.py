"""Reading a page whose cells are no longer exact: each cell by the nearest glyph."""
