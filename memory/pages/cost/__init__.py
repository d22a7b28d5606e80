"""The token cost of a page, and whether a picture saves tokens."""
