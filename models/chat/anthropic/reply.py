"""Parses Anthropic's stream into our events. Pure: JSON objects in, events out.

The order is message_start, then content_block_start/_delta/_stop for each block, message_delta, message_stop; ping
anywhere.
"""

import json
from collections.abc import Iterator
from typing import Final, cast
from uuid import uuid4

from foundation.bounded_json import Json
from models.chat.merged_fields import merged
from models.chat.port import PROGRESS_STEP, CallProgress, Event, ReasoningChunk, StopReason
from models.chat.reasoning import SurrogateJoiner, ThinkSplitter
from models.limits import AnswerMeter, StreamLimits, count_of
from models.messages import ProviderFields, ToolCall, Usage

EACH_CALL = " " * 64  # what a call weighs beside its arguments, so that empty ones are bounded too
BLOCKS: Final = "thinking_blocks"
"""Key of the blocks of reasoning among the fields of a message: pairs of place and block."""
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_CALL: Final = frozenset({"type", "id", "name", "input", "cache_control"})
_COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_REASONS = {
    "end_turn": StopReason.STOP,
    "stop_sequence": StopReason.STOP,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "tool_use": StopReason.TOOL_CALLS,
    "refusal": StopReason.FILTERED,
}
"""Every other reason is no end: the answer broke off."""


class _Tool:
    """A tool call under construction."""

    def __init__(self, block: Json) -> None:
        self.id = _string(block.get("id"))
        self.name = _string(block.get("name"))
        self.fields = {name: value for name, value in block.items() if name not in _CALL and value is not None}
        self.arguments: list[str] = []
        self.chars = 0
        given = block.get("input")
        self.whole = json.dumps(given, ensure_ascii=False) if given and isinstance(given, dict) else "{}"


class AnthropicReplyReader:
    """Reads the stream's objects. `ended` once message_stop came.

    Values of a wrong type are ignored; raises StreamLimitExceeded past `limits`.
    """

    def __init__(self, limits: StreamLimits | None = None) -> None:
        self._meter = AnswerMeter(limits or StreamLimits())
        self.reason: StopReason | None = None
        self.broken_reason = ""  # a stop reason that is no end
        self.ended = False
        self._tools: dict[int, _Tool] = {}
        self._complete: list[_Tool] = []  # in their order
        self._thinking: dict[int, Json] = {}  # blocks of reasoning that must come back unchanged, by their place
        self._call_fields: dict[str, Json] = {}
        self._counts: dict[str, int] = {}
        self._think = ThinkSplitter()
        self._text, self._reasoning = SurrogateJoiner(), SurrogateJoiner()

    @property
    def taken(self) -> int:
        """Bytes of text, reasoning and tool calls so far."""
        return self._meter.taken

    @property
    def has_ended(self) -> bool:
        return self.ended or self.reason is not None or bool(self.broken_reason)

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
                    self.reason = _REASONS.get(str(reason))
                    self.broken_reason = "" if self.reason else str(reason)
            case "message_stop":
                self.ended = True
            case _:
                pass  # ping, and what is yet to be invented

    def _start(self, index: int, block: Json) -> Iterator[Event]:
        if block.get("type") == "tool_use":
            self._tools[index] = tool = _Tool(block)
            self._meter.take_call(EACH_CALL, tool.id, tool.name, json.dumps(tool.fields))
        elif str(block.get("type")) in _THINKING:
            self._meter.take_text(json.dumps(block))
            self._thinking[index] = dict(block)
            if thought := self._reasoning.feed(_string(block.get("thinking"))):
                yield ReasoningChunk(thought)
        else:
            yield from self._think.feed(self._text.feed(self._words(block, "text")))

    def _delta(self, index: int, delta: Json) -> Iterator[Event]:
        match delta.get("type"):
            case "text_delta":
                yield from self._think.feed(self._text.feed(self._words(delta, "text")))
            case "thinking_delta":
                self._extend_thinking(index, delta)
                if thought := self._reasoning.feed(self._words(delta, "thinking")):
                    yield ReasoningChunk(thought)
            case "signature_delta":
                self._meter.take_text(_string(delta.get("signature")))
                self._extend_thinking(index, delta)
            case "input_json_delta" if index in self._tools:
                piece = _string(delta.get("partial_json"))
                self._meter.take_call(piece)
                tool = self._tools[index]
                tool.arguments.append(piece)
                before, tool.chars = tool.chars, tool.chars + len(piece)
                if tool.chars // PROGRESS_STEP > before // PROGRESS_STEP:
                    yield CallProgress(tool.name, tool.chars)
            case _:
                pass  # citations_delta

    def _extend_thinking(self, index: int, delta: Json) -> None:
        if index in self._thinking:
            new = {name: value for name, value in delta.items() if name != "type"}
            self._thinking[index] = merged(self._thinking[index], new)

    def _words(self, given: Json, name: str) -> str:
        text = _string(given.get(name))
        self._meter.take_text(text)
        return text

    def _take_counts(self, usage: object) -> None:
        self._counts |= {key: count_of(n) for key, n in _object(usage).items() if key in _COUNTED and n is not None}

    def _stop(self, index: int) -> Iterator[Event]:
        yield from self._think.feed(self._text.close())
        if held := self._reasoning.close():
            yield ReasoningChunk(held)
        if tool := self._tools.pop(index, None):
            self._complete.append(tool)

    def rest(self) -> Iterator[Event]:
        """The last characters, which were held back."""
        yield from self._think.close()

    def calls(self) -> Iterator[ToolCall]:
        """The complete calls, each under an id of its own. Half a call is none."""
        for tool in self._complete:
            own = tool.id if tool.id and tool.id not in self._call_fields else ""
            call = ToolCall(own or f"call_{uuid4().hex[:12]}", tool.name, "".join(tool.arguments).strip() or tool.whole)
            self._call_fields[call.id] = ({"id": own} if own else {}) | tool.fields
            yield call
        if self._complete and self.reason is StopReason.STOP:
            self.reason = StopReason.TOOL_CALLS
        elif self.reason is StopReason.TOOL_CALLS and not self._complete:
            self.reason = StopReason.STOP  # it announces calls and has none: the turn ends here

    def provider_fields(self, origin: str) -> ProviderFields | None:
        """The reasoning with signatures, and what the provider attached to calls; None if nothing.

        Blocks of reasoning go by their place among all blocks. One without its signature was cut off.
        """
        whole = [[place, block] for place, block in self._thinking.items() if block.get("signature") or "data" in block]
        if not (whole or self._call_fields):
            return None
        return ProviderFields(origin, {BLOCKS: whole} if whole else {}, self._call_fields)

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
