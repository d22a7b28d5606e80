"""Parses the output of a model in this process: reasoning, text, and tool calls between markers."""

import json
from collections.abc import Iterator
from typing import Protocol
from uuid import uuid4

from foundation.bounded_json import Json
from models.chat.port import Event, ReasoningChunk, TextChunk, TextWasReasoning
from models.chat.reasoning import ThinkSplitter, overlap
from models.messages import ToolCall


class SpecialTokens(Protocol):
    """Special tokens of a model's tokenizer."""

    @property
    def tool_marks(self) -> tuple[str, str] | None: ...

    @property
    def think_marks(self) -> tuple[str, str]: ...

    def parse_call(self, text: str, tools: list[Json]) -> list[Json]: ...


class AnswerReader:
    """Parses the answer's text as it arrives."""

    def __init__(self, marks: SpecialTokens, tools: list[Json], *, thinking: bool = False) -> None:
        self._marks = marks
        self._tools = tools
        opening, closing = marks.think_marks
        self._think = ThinkSplitter(thinking=thinking, opening=opening, closing=closing)
        self._held = ""
        self._inside = False
        self._calls: list[ToolCall] = []

    @property
    def called(self) -> bool:
        return bool(self._calls)

    def feed(self, text: str) -> Iterator[Event]:
        for event in self._think.feed(text):
            yield from self._sort(event)

    def finish(self) -> Iterator[Event]:
        for event in self._think.close():
            yield from self._sort(event)
        if self._inside:
            yield from self._take_call(self._held)
        elif self._held:
            yield TextChunk(self._held)
        self._held = ""
        yield from self._calls

    def _sort(self, event: TextChunk | ReasoningChunk | TextWasReasoning) -> Iterator[Event]:
        marks = self._marks.tool_marks
        if isinstance(event, TextWasReasoning):
            self._held, self._inside, self._calls = "", False, []
        if not isinstance(event, TextChunk) or marks is None or not self._tools:
            yield event
            return
        self._held += event.text
        while self._held:
            mark = marks[1] if self._inside else marks[0]
            before, separator, after = self._held.partition(mark) if mark else (self._held, "", "")
            if separator:
                yield from self._take_call(before) if self._inside else self._say(before)
                self._held, self._inside = after, not self._inside
                continue
            if not self._inside:
                keep = overlap(before, mark)
                yield from self._say(before[: len(before) - keep])
                self._held = before[len(before) - keep :]
            return

    def _say(self, text: str) -> Iterator[Event]:
        if text and not (text.isspace() and self._calls):
            yield TextChunk(text)

    def _take_call(self, text: str) -> Iterator[Event]:
        """The calls in it; text that holds none is emitted as text."""
        try:
            calls = self._marks.parse_call(text, self._tools)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, SyntaxError):
            yield from self._say(text)
            return
        for call in calls:
            arguments: object = call.get("arguments") or {}
            written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            self._calls.append(ToolCall(f"call_{uuid4().hex[:12]}", str(call.get("name") or ""), written))
