"""Streams an answer and reads the calls that its text holds, whether tools are offered natively or in text.

Falls back to text where a server rejects tools.
"""

import re
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Final

from msgspec.structs import replace

from models.chat.port import (
    AnswerEnd,
    AnswerError,
    Event,
    Profile,
    ReasoningChunk,
    StopReason,
    TextChunk,
    TextWasReasoning,
    ToolsRefused,
)
from models.chat.text_tools.reader import TextCallReader
from models.messages import RecalledSpan, Request, Role, Text, ToolCall, ToolResult
from models.repetition import RepetitionGuard

_NO_TOOL_RAN: Final = "The answer was cut off inside a tool call. No tool was run."
_REPETITION: Final = re.compile(r"\brepeat\w*|\btimes\b|\blines of\b|重复|[次遍]", re.IGNORECASE)
Send = Callable[[Request], AsyncGenerator[Event, None]]


async def stream_answer(
    request: Request, profile: Callable[[], Profile], send: Send, call_in_text: Callable[[], None] | None = None
) -> AsyncGenerator[Event, None]:
    """The events of the answer. `send` sends the request by `profile`, which `call_in_text` changes.

    Where the server rejects tools before its first word, ToolsRefused comes first, and the request is sent again with
    the tools in text.
    """
    refusal: AnswerError | None = None
    may_refuse = bool(request.tools) and profile().tools and call_in_text is not None
    async with aclosing(_answer(request, profile(), send)) as events:
        async for event in events:
            if may_refuse and isinstance(event, AnswerError) and event.code == "no_tools":
                refusal = event
                break
            yield event
    if refusal is None or call_in_text is None:
        return
    call_in_text()
    yield ToolsRefused(refusal.message)
    async with aclosing(_answer(request, profile(), send)) as events:
        async for event in events:
            yield event


async def _answer(request: Request, profile: Profile, send: Send) -> AsyncGenerator[Event, None]:
    """The events with calls for the text that is one. What a model adds after its calls is cut off with the answer."""
    question = _question(request)

    def new_reader() -> TextCallReader | None:
        if not (request.tools and profile.calls_tools):
            return None
        return TextCallReader(request.tools, question, lambda: _quotable(request))

    answer = _TextAnswer(new_reader, stops_loops=not (request.may_repeat or wants_repetition(question)))
    async with aclosing(send(request)) as events:
        async for event in events:
            for shown in answer.take(event):
                yield shown
            if answer.is_over:
                return


def _question(request: Request) -> str:
    """The user's own words in the newest message of the user."""
    message = next((message for message in reversed(request.messages) if message.role is Role.USER), None)
    parts = message.parts if message else ()
    return "\n".join(part.text for part in parts if isinstance(part, Text) and not part.injected)


def _quotable(request: Request) -> Iterator[str]:
    """The texts of the request that are not the model's own: of the user, of files, memory and tools."""
    for message in request.messages:
        for part in message.parts if message.role is not Role.ASSISTANT else ():
            if isinstance(part, Text | ToolResult | RecalledSpan) and getattr(part, "injected", "") != "tools":
                yield part.text


def wants_repetition(question: str) -> bool:
    """Whether the user may want the same text many times."""
    return _REPETITION.search(question) is not None


class _TextAnswer:
    """One answer. Its written calls come at its end, so that an answer that breaks off has none.

    Calls of the server's own win: a call that is written beside one is the same call. A model in a loop is stopped.
    """

    def __init__(self, new_reader: Callable[[], TextCallReader | None], *, stops_loops: bool) -> None:
        self._new_reader = new_reader
        self._reader = new_reader()
        self._calls: list[ToolCall] = []
        self._has_native = False
        self._stops_loops = stops_loops
        self._guard, self._reasoning_guard = RepetitionGuard(), RepetitionGuard()
        self.is_over = False

    def take(self, event: Event) -> Iterator[Event]:
        match event:
            case TextChunk(text=text):
                yield from self._text(self._reader.feed(text) if self._reader else iter((event,)))
                if self._reader and self._reader.is_over:
                    yield from self._end(*self._calls, AnswerEnd(StopReason.TOOL_CALLS))
                elif self._stops_loops and self._guard.feed(text):
                    yield from (*self._rest(is_cut=True), *self._end(AnswerEnd(StopReason.REPETITION)))
            case ReasoningChunk(text=text):
                yield event
                if self._stops_loops and self._reasoning_guard.feed(text):
                    yield from (*self._rest(is_cut=True), *self._end(AnswerEnd(StopReason.REPETITION)))
            case ToolCall():
                self._has_native = True
                yield event
            case TextWasReasoning():
                yield from self._rest()
                self._reader, self._calls, self._guard = self._new_reader(), [], RepetitionGuard()
                yield event
            case AnswerEnd(reason=reason):
                yield from self._rest(is_cut=reason not in {StopReason.STOP, StopReason.TOOL_CALLS})
                yield from self._ending(event)
            case AnswerError():
                yield from self._rest(is_cut=True)
                yield replace(event, message=f"{event.message} {_NO_TOOL_RAN}") if self._is_cut_call else event
            case _:
                yield event

    def _ending(self, end: AnswerEnd) -> Iterator[Event]:
        if self._calls and not self._has_native and end.reason is not StopReason.CANCELLED:
            yield from (*self._calls, AnswerEnd(StopReason.TOOL_CALLS))
        elif self._is_cut_call and end.reason is StopReason.LENGTH:
            yield AnswerEnd(StopReason.CUT_CALL)
        else:
            yield end

    def _end(self, *events: Event) -> Iterator[Event]:
        self.is_over = True
        yield from events

    def _rest(self, *, is_cut: bool = False) -> Iterator[TextChunk]:
        yield from self._text(self._reader.finish(is_cut=is_cut) if self._reader else iter(()))

    @property
    def _is_cut_call(self) -> bool:
        return self._reader is not None and self._reader.ends_within_call

    def _text(self, pieces: Iterator[TextChunk | ToolCall]) -> Iterator[TextChunk]:
        """The text of the pieces, as one; the calls are kept for the end."""
        text = ""
        for piece in pieces:
            if isinstance(piece, ToolCall):
                self._calls.append(piece)
            elif not self._calls:
                text += piece.text
        if text:
            yield TextChunk(text)
