"""The tool that reads pages of the web."""
