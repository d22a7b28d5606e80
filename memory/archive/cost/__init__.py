"""What a page costs the model that looks at it, and what goes beside it as text."""
