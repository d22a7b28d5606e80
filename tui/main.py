"""Entry point: the command line, with a function that opens the screen."""

import sys
from typing import TYPE_CHECKING

from agent.cli import main as run_command_line

if TYPE_CHECKING:
    from agent.cli.launch import LaunchOptions


def main() -> None:
    """`palimpsest`, `pal`."""
    sys.exit(run_command_line(open_screen=open_screen))


def open_screen(opening: "LaunchOptions") -> int:
    """Runs the chat; gives the exit status. Textual is imported here and not before."""
    from tui.launch import run_chat

    return run_chat(opening)


if __name__ == "__main__":
    main()
