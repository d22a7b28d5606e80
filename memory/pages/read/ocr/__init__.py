"""Reading a page with an OCR engine, by line on the grid or whole."""
