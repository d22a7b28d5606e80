"""What came of a tool call, in a sentence, and the end of what a command printed."""

import re
from typing import Final

from msgspec import Struct

from agent.permissions.tool_facts import OutcomeStyle, facts_of
from foundation.figures import short_count

LAST_LINES: Final = 5  # of a command's output
_LINE_CHARS: Final = 200
_TAIL_CHARS: Final = 4_000  # read from the end for the last lines
_COMMAND_OUTCOME: Final = re.compile(r"^\[((?:exit|ended|stopped|runs|started)[^\]\n]{1,200})\]$", re.MULTILINE)
_EXIT_ERROR: Final = re.compile(r"exit (?!0\b)")
_CUT_SHORT: Final = re.compile(r"stopped|ended")  # by the user, at the time limit, by a signal


class ToolOutcome(Struct, frozen=True):
    """`sentence` says how it ended; `output` are the last lines of a command's output. `is_error`: the command ended
    with another status than 0, or was cut short."""

    sentence: str
    output: tuple[str, ...] = ()
    is_error: bool = False


def tool_outcome(tool: str, text: str, chars: int, *, failed: bool) -> ToolOutcome | None:
    """The outcome of a call with a result of `chars` characters; None where it is shown elsewhere.

    `text` is what the model reads of it. A failure, a change of files and an answer are told by their first line, a
    command by how it ended and the last lines of its output, any other result by its length. A plan has a display of
    its own.
    """
    facts = None if failed else facts_of(tool)
    style = facts.outcome if facts else OutcomeStyle.LENGTH
    if style is OutcomeStyle.OWN:
        return None
    ended = _COMMAND_OUTCOME.search(text, 0, 600) if style is OutcomeStyle.COMMAND else None
    if ended:
        has_failed = _EXIT_ERROR.match(ended[1]) is not None
        sentence = f"failed: {ended[1]}" if has_failed else ended[1]
        is_error = has_failed or _CUT_SHORT.match(ended[1]) is not None
        return ToolOutcome(sentence, tuple(_last_lines(text[ended.end() :])), is_error)
    first = _clipped(text.strip().partition("\n")[0]) if failed or style is OutcomeStyle.FIRST_LINE else ""
    if failed:
        return ToolOutcome(f"failed{': ' if first else ''}{first}")
    return ToolOutcome(first or f"{short_count(chars)} characters")


def _last_lines(output: str) -> list[str]:
    lines = [line.rstrip() for line in output[-_TAIL_CHARS:].splitlines() if line.strip()]
    before = ["…"] if len(lines) > LAST_LINES or len(output) > _TAIL_CHARS else []
    return [*before, *map(_clipped, lines[-LAST_LINES:])]


def _clipped(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}…"
