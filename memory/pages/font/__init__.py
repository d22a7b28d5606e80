"""The glyphs of both cell sizes: built from their sources, loaded, made distinct."""
