"""The conversation as it is shown: Markdown made into lines once, and the end of it while it streams."""
