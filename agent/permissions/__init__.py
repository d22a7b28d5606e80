"""Permissions: what a tool would do (`action`), and whether it may (`policy`)."""
