"""What a request aims at: its size, and what of older turns is shown by a line."""
