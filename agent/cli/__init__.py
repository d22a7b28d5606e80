"""The command line: data on stdout, narration on stderr, five exit statuses (DESIGN 5)."""

from agent.cli.main import main

__all__ = ["main"]
