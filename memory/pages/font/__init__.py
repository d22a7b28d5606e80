"""The glyphs of both cell sizes: built from their sources, loaded, told apart."""
