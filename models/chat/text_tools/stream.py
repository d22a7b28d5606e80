"""Streams an answer whose tools are offered natively or in text, and falls back to text where a server rejects them."""

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing

from models.chat.port import (
    AnswerEnd,
    AnswerError,
    Event,
    Profile,
    StopReason,
    TextChunk,
    TextWasReasoning,
    ToolsRefused,
)
from models.chat.text_tools.reader import TextCallReader
from models.messages import Request, ToolCall

Send = Callable[[Request], AsyncGenerator[Event, None]]


async def stream_answer(
    request: Request, profile: Callable[[], Profile], send: Send, call_in_text: Callable[[], None] | None = None
) -> AsyncGenerator[Event, None]:
    """The events of the answer. `send` sends the request by `profile`, which `call_in_text` changes.

    Where the server rejects tools before its first word, ToolsRefused comes first, and the request is sent again with
    the tools in text.
    """
    if request.tools and profile().tools:
        refusal: AnswerError | None = None
        async with aclosing(send(request)) as events:
            async for event in events:
                if isinstance(event, AnswerError) and event.code == "no_tools" and call_in_text is not None:
                    refusal = event
                    break
                yield event
        if refusal is None or call_in_text is None:
            return
        call_in_text()
        yield ToolsRefused(refusal.message)
    answer = _calls_in_text(send(request)) if request.tools and profile().text_tools else send(request)
    async with aclosing(answer) as events:
        async for event in events:
            yield event


async def _calls_in_text(stream: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
    """The events with calls for the text that is one. What a model adds after its calls is cut off with the answer."""
    answer = _TextAnswer()
    async with aclosing(stream) as events:
        async for event in events:
            for shown in answer.take(event):
                yield shown
            if answer.is_over:
                return


class _TextAnswer:
    """One answer. Its calls come at its end, so that an answer that breaks off has none."""

    def __init__(self) -> None:
        self._reader = TextCallReader()
        self._calls: list[ToolCall] = []
        self.is_over = False

    def take(self, event: Event) -> Iterator[Event]:
        match event:
            case TextChunk(text=text):
                yield from self._text(self._reader.feed(text))
                if self._reader.is_over:
                    self.is_over = True
                    yield from (*self._calls, AnswerEnd(StopReason.TOOL_CALLS))
            case TextWasReasoning():
                yield from self._text(self._reader.finish())
                self._reader, self._calls = TextCallReader(), []
                yield event
            case AnswerEnd(reason=reason):
                yield from self._text(self._reader.finish())
                if self._calls and reason is not StopReason.CANCELLED:
                    yield from (*self._calls, AnswerEnd(StopReason.TOOL_CALLS))
                else:
                    yield event
            case AnswerError():
                yield from self._text(self._reader.finish())
                yield event
            case _:
                yield event

    def _text(self, pieces: Iterator[TextChunk | ToolCall]) -> Iterator[TextChunk]:
        for piece in pieces:
            if isinstance(piece, ToolCall):
                self._calls.append(piece)
            elif not self._calls:
                yield piece
