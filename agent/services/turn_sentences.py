"""Sentences about a turn that every face says: why the context is read anew, what was recalled or made shorter."""

from typing import Final, cast

from context.report import Reduction
from foundation.terminal_text import visible_line
from memory.records import FAILURE, STEERS, AnswerOwner, Entry
from models.messages import RecalledSpan
from models.recalled import LEFT_BRANCH

EMPTY_ANSWER: Final = "The answer is empty. /retry requests another one."
WITHDRAWN: Final = "The text above was the model's reasoning. Its answer follows."
BROKE_OFF: Final = "the answer was cut off here · /retry tries again"
STEERED: Final = "the answer was interrupted by your next message"
STOPPED, STOPPED_WITH_TEXT = "stopped", "stopped; the partial answer is saved"
FAILED: Final = "an error stopped the answer here ({}) · /retry tries again"
OTHER_WINDOW: Final = "another window is answering; its answer so far is above"
OTHER_WINDOW_THEN: Final = "another window was answering when this one opened; its answer up to then is above"
OTHER_WINDOW_PERHAPS: Final = "the answer is incomplete: it was cut off, or another window is still writing it"
NO_ANSWER: Final = "no answer came"
MODEL_CHANGED: Final = "the model changed"
ARCHIVED: Final = "older turns were archived"

_REASONS: Final = {
    MODEL_CHANGED: "Another model answers now",
    ARCHIVED: "Older messages were archived",
    "another branch": "Another branch of the conversation",
}
CUT: Final = "cut off at the answer length limit; write “go on” for more"
CUT_CALL: Final = "cut off at the answer length limit within a tool call: no tool ran · /retry tries again"
IN_LOOP: Final = "stopped: the model repeated itself · /retry tries again"
FILTERED: Final = "stopped by the service’s content filter"
_IN_PROGRESS: Final = {
    AnswerOwner.THIS: "",
    AnswerOwner.OTHER: OTHER_WINDOW,
    AnswerOwner.OTHER_AT_OPENING: OTHER_WINDOW_THEN,
    AnswerOwner.UNKNOWN: OTHER_WINDOW_PERHAPS,
}
ENDINGS: Final = {"length": CUT, "cut_call": CUT_CALL, "filtered": FILTERED, "repetition": IN_LOOP}
"""Why an answer may be incomplete, by its reason."""


def ending_line(entry: Entry, after: Entry | None, writer: AnswerOwner = AnswerOwner.NONE) -> str:
    """Why an incomplete answer ended where it did, "" where this program writes it; `after` is the entry after it."""
    if writer is not AnswerOwner.NONE:
        return _IN_PROGRESS[writer]
    if after is not None and after.meta.get(STEERS):
        return STEERED
    if code := entry.meta.get("failed"):
        return FAILED.format(visible_line(str(code)))
    if entry.meta.get("stopped"):
        return STOPPED_WITH_TEXT if entry.chars else STOPPED
    return BROKE_OFF if entry.chars or entry.meta.get("tool_calls") else NO_ANSWER


def reduction_line(reduction: Reduction) -> str:
    """`e_4kx7… run_command: 3,200 → 41 tokens`."""
    what = reduction.tool or "what was recalled for the message"
    return f"{reduction.entry} {what}: {reduction.before:,} → {reduction.after:,} tokens"


def epoch_notice(reason: str, *, known: frozenset[str] = frozenset()) -> str:
    """One line, or "" if the reason is in `known`: reasons that were shown, or that the user caused."""
    if not reason or reason in known:
        return ""
    return f"{_REASONS.get(reason) or _capitalised(reason)}: the model reads the whole context anew."


def _capitalised(reason: str) -> str:
    """The reason with a capital, except for a file name."""
    is_file = "." in reason.split(" ", 1)[0]
    return reason if is_file else reason[0].upper() + reason[1:]


def recalled_line(span: RecalledSpan, beside: int) -> str:
    """`[Boat · user · e_4kx7…] exact · 2 beside it`."""
    details = [f"{span.citation} {span.trust.value}"]
    if span.superseded:
        details.append(f"superseded on {span.superseded}")
    if span.off_branch:
        details.append(LEFT_BRANCH)
    if beside:
        details.append(f"{beside} outside the summary")
    return " · ".join(details)


def failure_of(entry: Entry) -> tuple[str, str, str] | None:
    """Title, message and hint of the error that ended a stored answer; None where none did, or none was stored."""
    stored = entry.meta.get(FAILURE)
    if entry.complete or not isinstance(stored, list):
        return None
    title, message, hint = [*map(str, cast("list[object]", stored)), "", "", ""][:3]
    return title, message, hint
