"""Output to the terminal: only the cells that changed are written, and lines that moved are scrolled; notifications."""
