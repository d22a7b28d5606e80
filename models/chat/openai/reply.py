"""Parses the chunks of an OpenAI-compatible stream into events. Pure: JSON objects in, events out."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, cast

from foundation.bounded_json import Json
from models.chat.merged_fields import merged
from models.chat.openai.call_pieces import CallAssembler
from models.chat.port import Event, PrefillProgress, ReasoningChunk, StopReason, TextChunk, TextWasReasoning
from models.chat.reasoning import SurrogateJoiner, ThinkSplitter
from models.chat.usage import usage_in
from models.limits import LARGEST_COUNT, AnswerMeter, StreamLimits, count_of
from models.messages import ProviderFields, Usage

LONGEST_NAME, MOST_TIMINGS = 40, 32


class OpenAIReplyReader:
    """Reads the stream's objects; `finish` returns the text that was held back until the end.

    `reason` is None until the server reported why it stopped. Values of a wrong type are ignored; raises
    StreamLimitExceeded past `limits`.
    """

    def __init__(self, limits: StreamLimits | None = None) -> None:
        self._meter = AnswerMeter(limits or StreamLimits())
        self.reason: StopReason | None = None
        self.broken_reason = ""  # a finish reason that is no end
        self.usage: Usage | None = None
        self.words = 0  # characters of text and reasoning so far
        self.is_done = False  # whether the server said so
        self._is_refusal = False  # whether the model refused to answer, in words
        self._calls = CallAssembler(self._meter)
        self._think = ThinkSplitter()
        self._text, self._reasoning = SurrogateJoiner(), SurrogateJoiner()
        self._reasoning_field = ""  # as plain text
        self._fields: Json = {}  # that the provider attached to the message
        self._call_fields: dict[str, Json] = {}
        self._timings: Json = {}
        self._progress: PrefillProgress | None = None
        self.has_moved = False  # whether the last chunk brought words, or more of the prompt was read

    @property
    def taken(self) -> int:
        """Bytes of text, reasoning and tool calls so far."""
        return self._meter.taken

    @property
    def has_ended(self) -> bool:
        return self.reason is not None or bool(self.broken_reason)

    def feed(self, chunk: Json) -> Iterator[Event]:
        before = self._moves
        if isinstance(progress := chunk.get("prompt_progress"), dict):
            self._progress = _progress(cast("Json", progress))
            yield self._progress
        self._take_usage(chunk)
        choices: object = chunk.get("choices")
        if isinstance(choices, list) and choices:
            choice = _object(cast("list[Any]", choices)[0])
            yield from self._take_delta(_object(choice.get("delta") or choice.get("message")))
            if reason := choice.get("finish_reason"):
                self.reason = _REASONS.get(str(reason).lower())
                self.broken_reason = "" if self.reason else str(reason)
        self.has_moved = before != self._moves

    @property
    def _moves(self) -> tuple[object, ...]:
        """What a chunk may change; progress of the prompt only before the first word."""
        return self.taken, self._progress if not self.taken else None, self.has_ended

    def _take_delta(self, delta: Json) -> Iterator[Event]:
        content, thought = _content(delta.get("content"))
        if isinstance(refusal := delta.get("refusal"), str) and refusal:
            content, self._is_refusal = content + refusal, True
        name = next((name for name in _REASONING if isinstance(delta.get(name), str) and delta[name]), "")
        self._reasoning_field = self._reasoning_field or name
        self._take_fields(delta)
        if thought := thought or (str(delta[name]) if name else "") or _details_text(delta):
            self._meter.take_text(thought)
            if complete := self._reasoning.feed(thought):
                yield from self._count(ReasoningChunk(complete))
        if content:
            self._meter.take_text(content)
            for event in self._think.feed(self._text.feed(content)):
                yield from self._count(event)
        calls: object = delta.get("tool_calls")
        if isinstance(calls, list):
            yield from self._calls.take([_object(call) for call in cast("list[object]", calls)])

    def _take_fields(self, delta: Json) -> None:
        """Keeps what the provider attached to the message, whatever it is."""
        if fields := merged({}, {name: value for name, value in delta.items() if name not in _KNOWN}):
            self._meter.take_text(json.dumps(fields))
            self._fields = merged(self._fields, fields)

    def _count(self, event: TextChunk | ReasoningChunk | TextWasReasoning) -> Iterator[Event]:
        self.words += 0 if isinstance(event, TextWasReasoning) else len(event.text)
        yield event

    def _take_usage(self, chunk: Json) -> None:
        if isinstance(timings := chunk.get("timings"), dict):
            self._timings = _numbers(cast("Json", timings))
        usage = usage_in(chunk)
        if usage and (usage.prompt_tokens or self.usage is None):
            self.usage = usage

    @property
    def broken_calls(self) -> bool:
        """Whether a call's arguments ended before their JSON did."""
        return self._calls.are_broken

    def rest(self) -> Iterator[Event]:
        """The last characters, which were held back."""
        if rest := self._reasoning.close():
            yield from self._count(ReasoningChunk(rest))
        for event in [*self._think.feed(self._text.close()), *self._think.close()]:
            yield from self._count(event)

    def finish(self) -> Iterator[Event]:
        """The events held back: the last characters, and the tool calls in their order."""
        yield from self.rest()
        if self.reason is StopReason.LENGTH and self.broken_calls:
            return  # half a call is none
        for call, fields in self._calls.finished():
            if fields:
                self._call_fields[call.id] = fields
            yield call
        if self._calls:
            self.reason = StopReason.TOOL_CALLS
        elif self.reason is StopReason.TOOL_CALLS:
            self.reason = StopReason.STOP  # it announces calls and has none: the turn ends here
        if self._is_refusal and self.reason in {None, StopReason.STOP}:
            self.reason = StopReason.FILTERED

    def provider_fields(self, origin: str) -> ProviderFields | None:
        """What the provider attached to the answer and its calls; None if nothing. Call it after `finish`."""
        plain = "" if any(name in self._fields for name in _DETAILS) else self._reasoning_field
        if not (self._fields or self._call_fields or plain):
            return None
        return ProviderFields(origin, self._fields, self._call_fields, plain)

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


_REASONS: Final = {
    reason: ending
    for ending, reasons in {
        StopReason.STOP: "stop end_turn eos eos_token end_of_text stop_sequence complete completed",
        StopReason.LENGTH: "length max_tokens max_output_tokens model_length max_new_tokens",
        StopReason.TOOL_CALLS: "tool_calls tool_call function_call tool_use",
        StopReason.FILTERED: "content_filter refusal safety sensitive",
    }.items()
    for reason in reasons.split()
}
"""Every other reason is no end: the answer broke off."""
_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_DETAILS: Final = ("reasoning_details", "thinking_blocks")  # of OpenRouter and LiteLLM, with signatures
_KNOWN: Final = frozenset({"role", "content", "tool_calls", "function_call", "refusal", "name", "error", "usage"}) | {
    *_REASONING,
    *("logprobs", "token_ids", "prompt_token_ids", "annotations", "audio", "images"),
}
"""Fields of a message that are read, or that no provider takes back."""


def _content(content: object) -> tuple[str, str]:
    """The text and the reasoning of a delta's content: Mistral sends a list of parts."""
    if not isinstance(content, list):
        return (content, "") if isinstance(content, str) else ("", "")
    parts = [_object(part) for part in cast("list[object]", content)]
    thoughts = [_content(part.get("thinking"))[0] for part in parts]
    return "".join(str(part.get("text") or "") for part in parts), "".join(thoughts)


def _details_text(delta: Json) -> str:
    """The reasoning of a delta that has it in its details alone."""
    details = next((given for name in _DETAILS if (given := delta.get(name))), None)
    parts = [_object(part) for part in cast("list[object]", details)] if isinstance(details, list) else []
    names = ("text", "summary", "thinking")
    return "".join(str(next((part[name] for name in names if part.get(name)), "")) for part in parts)


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


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}
