"""Opens the chat in lines with the options of the command line. No Textual is loaded."""

from contextlib import suppress

from agent.cli import output
from agent.cli.launch import LaunchOptions
from foundation.program import TYPED, own_command
from tui.screen_reader.chat import LineChat
from tui.screen_reader.start import LineStart
from tui.session_opener import Opening


def run_lines(options: LaunchOptions, reason: str) -> int:
    """Runs the chat and gives the exit status. Afterwards stderr shows the command that resumes the conversation."""
    opening = Opening(options)
    start = LineStart(
        options=options,
        opening=opening,
        reason=reason,
        contents=options.brings,
        changes=options.changes,
        trust=opening.trust if options.trust is not None else None,
        untrusted_notice=options.untrusted_notice,
        links=opening.links,
        follow=opening.follow,
    )
    chat = LineChat(start)
    resumable = chat.run()
    if resumable:
        workspace = ("--workspace", options.workspace_flag) if options.workspace_flag else ()
        flag = ("--screen-reader",) if options.screen_reader else ()
        with suppress(OSError):  # the terminal may be closed
            output.narrate(f"Continue it with: {own_command(*workspace, *flag, '-r', resumable, program=TYPED)}")
    return chat.status
