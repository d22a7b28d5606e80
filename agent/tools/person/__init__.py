"""Tools that show the person something, or ask them."""
