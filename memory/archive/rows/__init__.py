"""What the store knows of archives and pages: rows, facts, checks."""
