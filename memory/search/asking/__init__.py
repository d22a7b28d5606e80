"""What is asked for: queries and filters."""
