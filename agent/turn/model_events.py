"""Events of a model as events of its turn."""

from typing import Final

from agent import events
from agent.events import SessionEvent
from models.chat.port import (
    CallProgress,
    Connected,
    Event,
    PrefillProgress,
    ReasoningChunk,
    RetryWait,
    TextChunk,
    TextWasReasoning,
    ToolsRefused,
)

TOOLS_IN_TEXT: Final = "{}. It now calls tools in text; choose it again with /model to reset this."


def session_event(event: Event, reasoning_seconds: float, withdrawn: str = "") -> SessionEvent | None:
    """The event of the turn that an event of its model is; None for those that are not shown.

    `reasoning_seconds`: since this answer's reasoning began. `withdrawn`: its text that turned out to be reasoning.
    """
    match event:
        case TextChunk(text=text):
            shown = events.TextDelta(text)
        case ReasoningChunk(text=text):
            shown = events.ReasoningDelta(text, reasoning_seconds)
        case TextWasReasoning():
            shown = events.TextWithdrawn(withdrawn)
        case Connected():
            shown = events.ModelConnected()
        case PrefillProgress(done=done, total=total):
            shown = events.Prefill(done, total)
        case CallProgress(name=name, chars=chars):
            shown = events.CallWritten(name, chars)
        case RetryWait(number=number, most=most, seconds=seconds, reason=reason):
            shown = events.Retrying(number, most, seconds, reason)
        case ToolsRefused(reason=reason):
            shown = events.Notice("info", TOOLS_IN_TEXT.format(reason.rstrip(".")))
        case _:
            shown = None
    return shown
