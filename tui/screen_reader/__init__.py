"""The chat as lines for screen readers: nothing is drawn, and nothing that was written changes."""
