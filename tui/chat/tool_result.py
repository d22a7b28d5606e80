"""Transcript lines of a tool's result: how it ended, and the end of what a command printed."""

from typing import Final

from agent.services.tool_outcome import tool_outcome
from foundation.figures import elapsed
from foundation.terminal_text import visible_code
from memory.tool_calls import INTERRUPTED, described
from models.messages import ToolCall
from tui.widgets.transcript.items import MutedLine

CALL_MARK: Final = "▸ "


def result_lines(tool: str, text: str, chars: int, *, failed: bool, prefix: str = "  ") -> list[MutedLine]:
    """The lines for a result of `chars` characters. `text` is what the model reads of it."""
    outcome = tool_outcome(tool, text, chars, failed=failed)
    if outcome is None:
        return []
    gap, tone = prefix != "  ", "warning" if failed or outcome.is_error else "muted"
    first = MutedLine(f"{tool}: {outcome.sentence}", tone, gap=gap, prefix=prefix)
    return [first, *(MutedLine(line, prefix="    ", is_preview=True) for line in outcome.output)]


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
