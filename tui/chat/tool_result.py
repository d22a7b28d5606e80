"""Transcript lines of a tool's result: how it ended, and the end of what a command printed."""

import re
from typing import Final

from tui.widgets.status import short_count
from tui.widgets.transcript.items import MutedLine

LAST_LINES: Final = 5  # of a command's output
_LINE_CHARS: Final = 200
_TAIL_CHARS: Final = 4_000  # read from the end for the last lines
_COMMANDS: Final = {"run_command", "command_output"}
_CHANGES: Final = {"write_file", "edit_file", "apply_patch"}
_COMMAND_OUTCOME: Final = re.compile(r"^\[((?:exit|ended|stopped|runs|started)[^\]\n]{1,200})\]$", re.MULTILINE)


def result_lines(tool: str, text: str, chars: int, *, failed: bool, prefix: str = "  ") -> list[MutedLine]:
    """The lines for a result of `chars` characters. `text` is what the model reads of it.

    A failure and a change of files are shown by their first line, a command by how it ended and the last lines of its
    output, any other result by its length.
    """
    gap, tone = prefix != "  ", "warning" if failed else "muted"
    ended = _COMMAND_OUTCOME.search(text, 0, 600) if tool in _COMMANDS and not failed else None
    if ended:
        output = _last_lines(text[ended.end() :])
        return [
            MutedLine(f"{tool}: {ended[1]}", gap=gap, prefix=prefix),
            *(MutedLine(o, prefix="    ") for o in output),
        ]
    if failed:
        reason = _clipped(text.strip().partition("\n")[0])
        return [MutedLine(f"{tool}: failed{': ' if reason else ''}{reason}", tone, gap=gap, prefix=prefix)]
    outcome = _clipped(text.strip().partition("\n")[0]) if tool in _CHANGES else ""
    return [MutedLine(f"{tool}: {outcome or f'{short_count(chars)} characters'}", gap=gap, prefix=prefix)]


def _last_lines(output: str) -> list[str]:
    lines = [line.rstrip() for line in output[-_TAIL_CHARS:].splitlines() if line.strip()]
    before = ["…"] if len(lines) > LAST_LINES or len(output) > _TAIL_CHARS else []
    return [*before, *map(_clipped, lines[-LAST_LINES:])]


def _clipped(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"
