"""Parses the chunks of an OpenAI-compatible stream into events. Pure: JSON objects in, events out."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast
from uuid import uuid4

from foundation.bounded_json import Json
from models.chat.port import PROGRESS_STEP, CallProgress, Event, PrefillProgress, ReasoningChunk, StopReason, TextChunk
from models.chat.reasoning import SurrogateJoiner, ThinkSplitter
from models.limits import LARGEST_COUNT, AnswerMeter, StreamLimits, count_of
from models.messages import ToolCall, Usage

EACH_CALL = " " * 64  # what a call weighs beside its arguments, so that empty ones are bounded too
LONGEST_NAME, MOST_TIMINGS = 40, 32


class _Call:
    """A tool call under construction."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.chars = 0


class OpenAIReplyReader:
    """Reads the stream's objects; `finish` returns the text that was held back until the end.

    `reason` is None until the server reported why it stopped. Values of a wrong type are ignored; raises
    StreamLimitExceeded past `limits`.
    """

    def __init__(self, limits: StreamLimits | None = None) -> None:
        self._meter = AnswerMeter(limits or StreamLimits())
        self.reason: StopReason | None = None
        self.usage: Usage | None = None
        self.words = 0  # characters of text and reasoning so far
        self.is_done = False  # whether the server said so
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._think = ThinkSplitter()
        self._text, self._reasoning = SurrogateJoiner(), SurrogateJoiner()
        self._timings: Json = {}

    @property
    def taken(self) -> int:
        """Bytes of text, reasoning and tool calls so far."""
        return self._meter.taken

    def feed(self, chunk: Json) -> Iterator[Event]:
        if isinstance(progress := chunk.get("prompt_progress"), dict):
            yield _progress(cast("Json", progress))
        self._take_usage(chunk)
        choices: object = chunk.get("choices")
        if not isinstance(choices, list) or not choices:
            return
        choice = _object(cast("list[Any]", choices)[0])
        yield from self._take_delta(_object(choice.get("delta") or choice.get("message")))
        if reason := choice.get("finish_reason"):
            self.reason = _REASONS.get(str(reason), StopReason.STOP)

    def _take_delta(self, delta: Json) -> Iterator[Event]:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._meter.take_text(thought)
        if isinstance(thought, str) and (complete := self._reasoning.feed(thought)):
            yield from self._count(ReasoningChunk(complete))
        content: object = delta.get("content")
        if isinstance(content, list):  # Mistral's own API sends parts
            content = "".join(str(_object(part).get("text") or "") for part in cast("list[Any]", content))
        if isinstance(content, str):
            self._meter.take_text(content)
        if isinstance(content, str) and (complete := self._text.feed(content)):
            for event in self._think.feed(complete):
                yield from self._count(event)
        calls: object = delta.get("tool_calls")
        for position, call in enumerate(cast("list[Any]", calls) if isinstance(calls, list) else ()):
            yield from self._take_call(_object(call), position)

    def _count(self, event: TextChunk | ReasoningChunk) -> Iterator[Event]:
        self.words += len(event.text)
        yield event

    def _take_call(self, delta: Json, position: int) -> Iterator[Event]:
        """Adds a piece to its call, by its index; a new id under an old index begins another call."""
        index = delta.get("index")
        index = index if isinstance(index, int) else position
        call_id = _string(delta.get("id"))
        function = _object(delta.get("function"))
        call = self._by_index.get(index)
        if call is None or (call_id and call.id and call_id != call.id):
            self._meter.take_call(EACH_CALL)
            call = _Call()
            self._by_index[index] = call
            self._calls.append(call)
        call.id = call.id or call_id
        call.name = call.name or _string(function.get("name"))
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):  # an object where a string of JSON belongs
            arguments = json.dumps(arguments, ensure_ascii=False)
        if arguments:
            call.arguments.append(arguments)
            before, call.chars = call.chars, call.chars + len(arguments)
            if call.chars // PROGRESS_STEP > before // PROGRESS_STEP:
                yield CallProgress(call.name, call.chars)
        self._meter.take_call(call_id, _string(function.get("name")), arguments or "")

    def _take_usage(self, chunk: Json) -> None:
        if isinstance(timings := chunk.get("timings"), dict):
            self._timings = _numbers(cast("Json", timings))
        if isinstance(given := chunk.get("usage"), dict):
            self.usage = _usage(cast("Json", given))

    @property
    def broken_calls(self) -> bool:
        """Whether a call's arguments ended before their JSON did."""
        return any(not _is_json("".join(call.arguments) or "{}") for call in self._calls)

    def finish(self) -> Iterator[Event]:
        """The events held back: the last characters, and the tool calls in their order."""
        if rest := self._reasoning.close():
            yield from self._count(ReasoningChunk(rest))
        for event in [*self._think.feed(self._text.close()), *self._think.close()]:
            yield from self._count(event)
        if self.reason is StopReason.LENGTH and self.broken_calls:
            return  # half a call is none
        for call in self._calls:
            arguments = "".join(call.arguments).strip() or "{}"
            yield ToolCall(call.id or f"call_{uuid4().hex[:12]}", call.name, arguments)
        if self._calls:
            self.reason = StopReason.TOOL_CALLS

    def counted(self) -> Usage | None:
        """The server's own usage, with llama.cpp's figures of its cache and speed."""
        timings = self._timings
        usage = self.usage
        if usage is None and "prompt_n" in timings:
            cached = count_of(timings.get("cache_n"))
            usage = Usage(count_of(timings["prompt_n"]) + cached, count_of(timings.get("predicted_n")), cached)
        if usage is None or not timings:
            return usage
        cached = usage.cached_tokens
        if cached is None and "cache_n" in timings:
            cached = count_of(timings["cache_n"])
        return Usage(usage.prompt_tokens, usage.completion_tokens, cached, extra={"timings": timings})


_REASONS = {
    "stop": StopReason.STOP,
    "length": StopReason.LENGTH,
    "max_tokens": StopReason.LENGTH,
    "tool_calls": StopReason.TOOL_CALLS,
    "function_call": StopReason.TOOL_CALLS,
    "content_filter": StopReason.FILTERED,
}


def _usage(given: Json) -> Usage:
    cached = _object(given.get("prompt_tokens_details")).get("cached_tokens")
    return Usage(
        count_of(given.get("prompt_tokens")),
        count_of(given.get("completion_tokens")),
        None if cached is None else count_of(cached),
    )


def _progress(given: Json) -> PrefillProgress:
    return PrefillProgress(count_of(given.get("processed")), count_of(given.get("total")))


def _numbers(timings: Json) -> Json:
    """The measurements of llama.cpp: finite numbers under short names, at most as many as it has."""
    numbers = {
        name: value
        for name, value in timings.items()
        if len(name) <= LONGEST_NAME and isinstance(value, int | float) and abs(value) <= LARGEST_COUNT
    }
    return dict(islice(numbers.items(), MOST_TIMINGS))


def _string(value: object) -> str:
    """A string, or a number as one (some servers count their calls)."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and abs(value) <= LARGEST_COUNT else ""


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
