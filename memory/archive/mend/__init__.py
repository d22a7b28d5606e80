"""When something breaks: what a check finds, and what repair makes of it, on a copy."""
