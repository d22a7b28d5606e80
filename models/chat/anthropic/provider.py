"""Client of Anthropic's Messages API, as documented (version 2023-06-01)."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack

from msgspec.structs import replace

from foundation.privacy import clear
from models.chat import errors
from models.chat.anthropic import request as anthropic_request
from models.chat.anthropic.reply import AnthropicReplyReader
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.http import HttpResponse, Transport
from models.chat.joined_text import joined_text
from models.chat.port import (
    AnswerEnd,
    AnswerError,
    Connected,
    Event,
    Profile,
    StopReason,
    with_window,
    with_window_restored,
)
from models.chat.quirks import quirks_of
from models.chat.refused_fields import RefusedFields, resent
from models.chat.retry import with_retries
from models.chat.returned_fields import for_provider
from models.chat.spec import ModelSpec
from models.chat.sse import EventParser, ServerEvent
from models.chat.stream_objects import error_in, read_object
from models.chat.text_tools.stream import stream_answer
from models.limits import StreamLimitExceeded
from models.messages import Message, Request
from models.settings import ModelSettings
from models.tokens import Estimate

VERSION = "2023-06-01"


class Anthropic:
    """A ChatModel over the Messages API."""

    def __init__(
        self, spec: ModelSpec, *, address: str, profile: Profile, settings: ModelSettings, key: str, key_variable: str
    ) -> None:
        self._settings = settings
        self._profile = profile
        self._counter = Estimate()
        self.endpoint = Endpoint(spec.provider, spec.name, address, key_variable, key)
        self._origin = clear(f"{spec.provider}:{spec.name}@{address}")  # a name may hold a secret
        self._quirks = quirks_of(spec.provider, address, spec.name)
        self._refused = RefusedFields(self._quirks)
        headers = {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})
        self._transport = Transport(self.endpoint, settings, headers)

    @property
    def profile(self) -> Profile:
        return self._profile

    @property
    def counter(self) -> Estimate:
        return self._counter

    async def prepare(self) -> Profile:
        """The documented window; the service does not report another."""
        return self._profile

    def learn_window(self, window: int, *, stated: bool = True) -> None:
        self._profile = with_window(self._profile, window, stated=stated)

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        def learn(failed: AnswerError) -> bool:
            return self._refused.take(failed, self._messages(request))

        def send(request: Request) -> AsyncGenerator[Event, None]:
            return resent(lambda: with_retries(lambda: self._attempt(request), self._settings), learn)

        return stream_answer(request, lambda: self._profile, send)

    def _messages(self, request: Request) -> list[Message]:
        return list(for_provider(request.messages, self._origin, self._quirks.call_ids))

    async def close(self) -> None:
        await self._transport.close()

    def body(self, request: Request) -> bytes:
        """The exact bytes that are sent: equal for equal requests."""
        given, default = request.temperature, self._settings.temperature
        temperature = default if given is None else given
        vision = self._profile.vision
        return anthropic_request.anthropic_body(
            replace(request, messages=tuple(self._messages(request))),
            model=self.endpoint.model,
            vision=vision,
            temperature=temperature,
            refused=self._refused,
        )

    async def _attempt(self, request: Request) -> AsyncGenerator[Event, None]:
        async with AsyncExitStack() as stack:
            reply = await self._transport.post(stack, "/v1/messages", self.body(request))
            if not await reply.is_stream():
                body = await reply.whole()
                raise AttemptFailed(errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace")))
            yield Connected()
            reader = AnthropicReplyReader(self._settings.limits)
            try:
                async for event in self._streamed(reply, reader):
                    yield event
                errors.require_end(self.endpoint, reader.reason or reader.ended, reader.broken_reason)
            except StreamLimitExceeded as excess:
                raise AttemptFailed(errors.limit_error(self.endpoint, excess)) from excess
            except AttemptFailed:
                for event in reader.rest():
                    yield event
                raise
            for event in (*reader.rest(), *reader.calls()):
                yield event
            if fields := reader.provider_fields(self._origin):
                yield fields
            usage = reader.usage()
            self._profile = with_window_restored(self._profile, usage.prompt_tokens)
            yield usage
            yield AnswerEnd(reader.reason or StopReason.STOP)

    async def _streamed(self, reply: HttpResponse, reader: AnthropicReplyReader) -> AsyncGenerator[Event, None]:
        parser = EventParser(self._settings.limits)
        async for chunk in reply.paced_chunks():
            events = self._chunk_events(parser, chunk, reader, reply)
            for event in joined_text(events) if reply.is_fast else events:
                yield event
            if reader.ended:
                return

    def _chunk_events(
        self, parser: EventParser, chunk: bytes, reader: AnthropicReplyReader, reply: HttpResponse
    ) -> Iterator[Event]:
        for sent in parser.feed(chunk):
            before = reader.taken, reader.has_ended
            yield from self._read(sent, reader)
            parser.quiet.take_event(len(sent.data), reader.taken - before[0])
            if before != (reader.taken, reader.has_ended):
                reply.note_progress(words=reader.taken > 0, ended=reader.has_ended)

    def _read(self, sent: ServerEvent, reader: AnthropicReplyReader) -> Iterator[Event]:
        given = read_object(self.endpoint, sent)
        yield from reader.feed(given)
        if failed := error_in(self.endpoint, given, named=sent.event == "error"):
            raise failed
