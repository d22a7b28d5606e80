"""The events of Anthropic's stream, put together into ours. Pure: JSON objects in, events out.

message_start, then content_block_start/_delta/_stop for each block, message_delta, message_stop; ping anywhere.
"""

from collections.abc import Iterator
from typing import Any, cast

from models.chat.port import Event, ReasoningDelta, StopReason, TextDelta
from models.chat.thinking import WholeCharacters
from models.messages import ToolCall, Usage

Json = dict[str, Any]
_REASONS = {
    "end_turn": StopReason.STOP,
    "stop_sequence": StopReason.STOP,
    "max_tokens": StopReason.LENGTH,
    "model_context_window_exceeded": StopReason.LENGTH,
    "tool_use": StopReason.TOOL_CALLS,
}


class _Tool:
    """A tool call in the making."""

    def __init__(self, block: Json) -> None:
        self.id = str(block.get("id") or "")
        self.name = str(block.get("name") or "")
        self.arguments: list[str] = []


class ReplyReader:
    """Feed it the stream's objects. `ended` once message_stop came."""

    def __init__(self) -> None:
        self.reason: StopReason | None = None
        self.ended = False
        self._tools: dict[int, _Tool] = {}
        self._counts: Json = {}
        self._text, self._reasoning = WholeCharacters(), WholeCharacters()

    def feed(self, event: Json) -> Iterator[Event]:
        match event.get("type"):
            case "message_start":
                self._counts |= _object(_object(event.get("message")).get("usage"))
            case "content_block_start":
                yield from self._start(int(event.get("index") or 0), _object(event.get("content_block")))
            case "content_block_delta":
                yield from self._delta(int(event.get("index") or 0), _object(event.get("delta")))
            case "content_block_stop":
                yield from self._stop(int(event.get("index") or 0))
            case "message_delta":
                self._counts |= {key: n for key, n in _object(event.get("usage")).items() if n is not None}
                if reason := _object(event.get("delta")).get("stop_reason"):
                    self.reason = _REASONS.get(str(reason), StopReason.STOP)
            case "message_stop":
                self.ended = True
            case _:
                pass  # ping, and what is yet to be invented

    def _start(self, index: int, block: Json) -> Iterator[Event]:
        if block.get("type") == "tool_use":
            self._tools[index] = _Tool(block)
        elif text := block.get("text"):
            yield TextDelta(str(text))

    def _delta(self, index: int, delta: Json) -> Iterator[Event]:
        match delta.get("type"):
            case "text_delta" if text := self._text.feed(str(delta.get("text") or "")):
                yield TextDelta(text)
            case "thinking_delta" if thought := self._reasoning.feed(str(delta.get("thinking") or "")):
                yield ReasoningDelta(thought)
            case "input_json_delta" if index in self._tools:
                self._tools[index].arguments.append(str(delta.get("partial_json") or ""))
            case _:
                pass  # signature_delta, citations_delta

    def _stop(self, index: int) -> Iterator[Event]:
        for held, kind in ((self._text.close(), TextDelta), (self._reasoning.close(), ReasoningDelta)):
            if held:
                yield kind(held)
        if tool := self._tools.pop(index, None):
            yield ToolCall(tool.id, tool.name, "".join(tool.arguments).strip() or "{}")

    def usage(self) -> Usage:
        """The whole prompt: what was read anew, what went into the cache, and what came from it."""
        fresh, written, cached = (
            int(self._counts.get(key) or 0)
            for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        return Usage(
            fresh + written + cached,
            int(self._counts.get("output_tokens") or 0),
            cached,
            extra={"cache_written": written} if written else {},
        )


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
