"""Entry point: the command line, with a function that opens the screen."""

import sys
from typing import TYPE_CHECKING

from agent.cli import main as run_command_line
from tui.full_collections import collect_less
from tui.themes.terminal import AUTO, GroundQuestion

if TYPE_CHECKING:
    from agent.cli.launch import LaunchOptions


def main() -> None:
    """`palimpsest`, `pal`."""
    collect_less()
    sys.exit(run_command_line(open_screen=open_screen))


def open_screen(opening: "LaunchOptions") -> int:
    """Runs the chat; gives the exit status. Textual is imported here and not before, and for a screen reader not at
    all."""
    if reason := screen_reader_reason(opening):
        from tui.screen_reader.launch import run_lines

        return run_lines(opening, reason)
    if opening.config.screen.theme != AUTO:
        from tui.launch import run_chat

        return run_chat(opening)
    question = GroundQuestion(opening.config.environment)
    question.start()  # answered while Textual loads
    try:
        from tui.launch import run_chat
    finally:
        ground = question.finish()
    return run_chat(opening, ground)


def screen_reader_reason(opening: "LaunchOptions") -> str:
    """What asks for the chat in lines; "" where nothing does."""
    config = opening.config
    if opening.screen_reader is not None:
        return "the flag --screen-reader" if opening.screen_reader else ""
    if config.screen.reader == "auto":
        return "ACCESSIBLE in the environment" if config.environment.get("ACCESSIBLE", "0") not in {"", "0"} else ""
    return "the setting screen.reader" if config.screen.reader == "on" else ""


if __name__ == "__main__":
    main()
