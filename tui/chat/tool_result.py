"""Transcript lines of a tool's result: how it ended, and the end of what a command printed."""

import re
from typing import Final

from foundation.terminal_text import visible_code
from memory.tool_calls import INTERRUPTED, described
from models.messages import ToolCall
from tui.widgets.status import elapsed, short_count
from tui.widgets.transcript.items import MutedLine

CALL_MARK: Final = "▸ "
LAST_LINES: Final = 5  # of a command's output
_LINE_CHARS: Final = 200
_TAIL_CHARS: Final = 4_000  # read from the end for the last lines
_COMMANDS: Final = {"run_command", "command_output"}
_SAYING: Final = {"write_file", "edit_file", "apply_patch", "ask_user"}
"""Tools whose first line says what came of the call."""
_SHOWN_ELSEWHERE: Final = {"update_plan"}
_COMMAND_OUTCOME: Final = re.compile(r"^\[((?:exit|ended|stopped|runs|started)[^\]\n]{1,200})\]$", re.MULTILINE)


def result_lines(tool: str, text: str, chars: int, *, failed: bool, prefix: str = "  ") -> list[MutedLine]:
    """The lines for a result of `chars` characters. `text` is what the model reads of it.

    A failure, a change of files and an answer are shown by their first line, a command by how it ended and the last
    lines of its output, any other result by its length. A plan has a panel of its own.
    """
    if tool in _SHOWN_ELSEWHERE and not failed:
        return []
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
    outcome = _clipped(text.strip().partition("\n")[0]) if tool in _SAYING else ""
    return [MutedLine(f"{tool}: {outcome or f'{short_count(chars)} characters'}", gap=gap, prefix=prefix)]


def call_line(summary: str, seconds: int = 0) -> MutedLine:
    """The line of a call. `seconds`: how long it has run, where that is shown."""
    shown = visible_code(summary)
    return MutedLine(f"{shown} · {elapsed(seconds)}" if seconds else shown, gap=True, prefix=CALL_MARK)


def interrupted_lines(call: ToolCall) -> list[MutedLine]:
    """The lines of a stored call without a result."""
    return [call_line(described(call)), MutedLine(INTERRUPTED, tone="warning", prefix="  ")]


def denied_line(reason: str) -> MutedLine:
    return MutedLine(f"not done: {reason}", tone="warning", prefix="  ")


def stored_lines(tool: str, summary: str, text: str, chars: int, *, failed: bool) -> list[MutedLine]:
    """The lines of a stored call and its result, as they were shown. `summary` is "" where none was stored."""
    if not summary:
        return result_lines(tool, text, chars, failed=failed, prefix=CALL_MARK)
    denial, mistake = f"Not done: {summary}. ", summary.partition(": ")[2]
    if failed and text.startswith(denial):
        return [call_line(summary), denied_line(text.removeprefix(denial))]
    if failed and mistake and text.startswith(mistake):
        return [call_line(summary)]
    return [call_line(summary), *result_lines(tool, text, chars, failed=failed)]


def _last_lines(output: str) -> list[str]:
    lines = [line.rstrip() for line in output[-_TAIL_CHARS:].splitlines() if line.strip()]
    before = ["…"] if len(lines) > LAST_LINES or len(output) > _TAIL_CHARS else []
    return [*before, *map(_clipped, lines[-LAST_LINES:])]


def _clipped(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"
