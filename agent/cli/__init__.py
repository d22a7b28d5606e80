"""The command line: data on stdout, narration on stderr, five exit statuses."""

from agent.cli.main import main

__all__ = ["main"]
