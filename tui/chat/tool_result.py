"""Transcript lines of a tool's result: how it ended, and the end of what a command printed."""

from typing import Final

from agent.services.tool_outcome import tool_outcome
from foundation.figures import elapsed
from foundation.terminal_text import visible_code
from memory.tool_calls import INTERRUPTED, described
from models.messages import ToolCall
from tui.widgets.transcript.items import MutedLine

CALL_MARK: Final = "▸ "
DONE_MARK, FAILED_MARK = "✓", "✗"


def result_lines(tool: str, text: str, chars: int, *, failed: bool, summary: str = "") -> list[MutedLine]:
    """The lines for a result of `chars` characters, below the line of the call, which is `summary`; where that is "",
    the first line names the tool. `text` is what the model reads of the result."""
    outcome = tool_outcome(tool, text, chars, failed=failed)
    if outcome is None:
        return []
    is_wrong = failed or outcome.is_error
    mark, tone = (FAILED_MARK, "warning") if is_wrong else (DONE_MARK, "muted")
    if summary:
        first = MutedLine(_without_name(outcome.sentence, summary), tone, prefix=f"  {mark} ")
    else:
        first = MutedLine(f"{mark} {tool}: {outcome.sentence}", tone, gap=True, prefix=CALL_MARK)
    return [first, *(MutedLine(line, prefix="    ", is_preview=True) for line in outcome.output)]


def _without_name(sentence: str, summary: str) -> str:
    """`600 bytes written.` of `out.py: 600 bytes written.` below `write out.py`."""
    name, colon, rest = sentence.partition(": ")
    return rest if colon and summary.endswith(f" {name}") else sentence


def call_line(summary: str, seconds: int = 0) -> MutedLine:
    """The line of a call. `seconds`: how long it has run, where that is shown."""
    shown = visible_code(summary)
    return MutedLine(f"{shown} · {elapsed(seconds)}" if seconds else shown, gap=True, prefix=CALL_MARK)


def interrupted_lines(call: ToolCall) -> list[MutedLine]:
    """The lines of a stored call without a result."""
    return [call_line(described(call)), MutedLine(INTERRUPTED, tone="warning", prefix=f"  {FAILED_MARK} ")]


def denied_line(reason: str) -> MutedLine:
    return MutedLine(f"not done: {reason}", tone="warning", prefix=f"  {FAILED_MARK} ")


def stored_lines(tool: str, summary: str, text: str, chars: int, *, failed: bool) -> list[MutedLine]:
    """The lines of a stored call and its result, as they were shown. `summary` is "" where none was stored."""
    if not summary:
        return result_lines(tool, text, chars, failed=failed)
    denial = f"Not done: {summary}. "
    if failed and text.startswith(denial):
        return [call_line(summary), denied_line(text.removeprefix(denial))]
    heading = _without_mistake(summary, text) if failed else summary
    return [call_line(heading), *result_lines(tool, text, chars, failed=failed, summary=heading)]


def _without_mistake(summary: str, text: str) -> str:
    """`write out.py` of `write out.py: Nothing to change`, where the result begins with that mistake."""
    parts = summary.split(": ")
    ends = (number for number in range(1, len(parts)) if text.startswith(": ".join(parts[number:])))
    return ": ".join(parts[: next(ends, len(parts))])
