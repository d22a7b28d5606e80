"""A page's life: bound, stored once, brought to rest, moved, let go."""
