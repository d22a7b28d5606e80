"""Where a person writes: the editor, what it remembers, and what it completes."""
