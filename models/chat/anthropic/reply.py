"""Parses Anthropic's stream into our events. Pure: JSON objects in, events out.

The order is message_start, then content_block_start/_delta/_stop for each block, message_delta, message_stop; ping
anywhere.
"""

from collections.abc import Iterator
from typing import cast

from foundation.bounded_json import Json
from models.chat.port import PROGRESS_STEP, CallProgress, Event, ReasoningChunk, StopReason, TextChunk
from models.chat.reasoning import SurrogateJoiner
from models.limits import AnswerMeter, StreamLimits, count_of
from models.messages import ToolCall, Usage

EACH_CALL = " " * 64  # what a call weighs beside its arguments, so that empty ones are bounded too
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_REASONS = {
    "end_turn": StopReason.STOP,
    "stop_sequence": StopReason.STOP,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "tool_use": StopReason.TOOL_CALLS,
    "refusal": StopReason.FILTERED,
}


class _Tool:
    """A tool call under construction."""

    def __init__(self, block: Json) -> None:
        self.id = _string(block.get("id"))
        self.name = _string(block.get("name"))
        self.arguments: list[str] = []
        self.chars = 0


class AnthropicReplyReader:
    """Reads the stream's objects. `ended` once message_stop came.

    Values of a wrong type are ignored; raises StreamLimitExceeded past `limits`.
    """

    def __init__(self, limits: StreamLimits | None = None) -> None:
        self._meter = AnswerMeter(limits or StreamLimits())
        self.reason: StopReason | None = None
        self.ended = False
        self._tools: dict[int, _Tool] = {}
        self._counts: dict[str, int] = {}
        self._text, self._reasoning = SurrogateJoiner(), SurrogateJoiner()

    @property
    def taken(self) -> int:
        """Bytes of text, reasoning and tool calls so far."""
        return self._meter.taken

    def feed(self, event: Json) -> Iterator[Event]:
        match event.get("type"):
            case "message_start":
                self._take_counts(_object(event.get("message")).get("usage"))
            case "content_block_start":
                yield from self._start(count_of(event.get("index")), _object(event.get("content_block")))
            case "content_block_delta":
                yield from self._delta(count_of(event.get("index")), _object(event.get("delta")))
            case "content_block_stop":
                yield from self._stop(count_of(event.get("index")))
            case "message_delta":
                self._take_counts(event.get("usage"))
                if reason := _object(event.get("delta")).get("stop_reason"):
                    self.reason = _REASONS.get(str(reason), StopReason.STOP)
            case "message_stop":
                self.ended = True
            case _:
                pass  # ping, and what is yet to be invented

    def _start(self, index: int, block: Json) -> Iterator[Event]:
        if block.get("type") == "tool_use":
            self._tools[index] = tool = _Tool(block)
            self._meter.take_call(EACH_CALL, tool.id, tool.name)
        elif text := self._text.feed(self._words(block, "text")):
            yield TextChunk(text)

    def _delta(self, index: int, delta: Json) -> Iterator[Event]:
        match delta.get("type"):
            case "text_delta" if text := self._text.feed(self._words(delta, "text")):
                yield TextChunk(text)
            case "thinking_delta" if thought := self._reasoning.feed(self._words(delta, "thinking")):
                yield ReasoningChunk(thought)
            case "input_json_delta" if index in self._tools:
                piece = _string(delta.get("partial_json"))
                self._meter.take_call(piece)
                tool = self._tools[index]
                tool.arguments.append(piece)
                before, tool.chars = tool.chars, tool.chars + len(piece)
                if tool.chars // PROGRESS_STEP > before // PROGRESS_STEP:
                    yield CallProgress(tool.name, tool.chars)
            case _:
                pass  # signature_delta, citations_delta

    def _words(self, given: Json, name: str) -> str:
        text = _string(given.get(name))
        self._meter.take_text(text)
        return text

    def _take_counts(self, usage: object) -> None:
        self._counts |= {key: count_of(n) for key, n in _object(usage).items() if key in _COUNTED and n is not None}

    def _stop(self, index: int) -> Iterator[Event]:
        for held, kind in ((self._text.close(), TextChunk), (self._reasoning.close(), ReasoningChunk)):
            if held:
                yield kind(held)
        if tool := self._tools.pop(index, None):
            yield ToolCall(tool.id, tool.name, "".join(tool.arguments).strip() or "{}")

    def usage(self) -> Usage:
        """Usage of the whole prompt: new input, cache writes and cache reads."""
        fresh, written, cached = (self._counts.get(key, 0) for key in _COUNTED[:3])
        return Usage(
            fresh + written + cached,
            self._counts.get("output_tokens", 0),
            cached,
            extra={"cache_written": written} if written else {},
        )


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
