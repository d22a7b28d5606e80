"""Pages in view: what is old stands before a vision model as page images, within a budget of vision tokens."""
