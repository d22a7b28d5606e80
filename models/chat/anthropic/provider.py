"""Client of Anthropic's Messages API, as documented (version 2023-06-01)."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from typing import Any, cast

from foundation.bounded_json import BadJson, load_json
from models.chat import errors
from models.chat.anthropic import request as anthropic_request
from models.chat.anthropic.reply import AnthropicReplyReader
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.http import HttpResponse, Transport
from models.chat.joined_text import joined_text
from models.chat.port import AnswerEnd, Connected, Event, Profile, StopReason, with_window
from models.chat.retry import with_retries
from models.chat.spec import ModelSpec
from models.chat.sse import EventParser, ServerEvent
from models.limits import StreamLimitExceeded
from models.messages import Request
from models.settings import ModelSettings
from models.tokens import Estimate

VERSION = "2023-06-01"


class Anthropic:
    """A ChatModel over the Messages API."""

    def __init__(self, spec: ModelSpec, *, address: str, profile: Profile, settings: ModelSettings, key: str) -> None:
        self._settings = settings
        self._profile = profile
        self._counter = Estimate()
        self.endpoint = Endpoint("anthropic", spec.name, address, "ANTHROPIC_API_KEY")
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
        return with_retries(lambda: self._attempt(request), self._settings)

    async def close(self) -> None:
        await self._transport.close()

    def body(self, request: Request) -> bytes:
        """The exact bytes that are sent: equal for equal requests."""
        given, default = request.temperature, self._settings.temperature
        temperature = default if given is None else given
        vision = self._profile.vision
        return anthropic_request.anthropic_body(
            request, model=self.endpoint.model, vision=vision, temperature=temperature
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
            except StreamLimitExceeded as excess:
                raise AttemptFailed(errors.limit_error(self.endpoint, excess)) from excess
            if not reader.ended:
                raise AttemptFailed(errors.truncated_error(self.endpoint), retry=True)
            yield reader.usage()
            yield AnswerEnd(reader.reason or StopReason.STOP)

    async def _streamed(self, reply: HttpResponse, reader: AnthropicReplyReader) -> AsyncGenerator[Event, None]:
        parser = EventParser(self._settings.limits)
        async for chunk in reply.paced_chunks():
            events = self._chunk_events(parser, chunk, reader)
            for event in joined_text(events) if reply.is_fast else events:
                yield event
            if reader.ended:
                return

    def _chunk_events(self, parser: EventParser, chunk: bytes, reader: AnthropicReplyReader) -> Iterator[Event]:
        for sent in parser.feed(chunk):
            before = reader.taken
            yield from self._read(sent, reader)
            parser.quiet.take_event(len(sent.data), reader.taken - before)

    def _read(self, sent: ServerEvent, reader: AnthropicReplyReader) -> Iterator[Event]:
        try:
            parsed: object = load_json(sent.data)
        except BadJson as error:
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, sent.data, str(error))) from None
        if not isinstance(parsed, dict):
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, sent.data))
        event = cast("dict[str, Any]", parsed)
        if event.get("type") == "error":
            code, message = errors.find_error(event) or ("", str(event))
            failed = errors.error_from_body(self.endpoint, message, code=code)
            raise AttemptFailed(failed, retry=failed.code in {"server_error", "rate_limited"})
        return reader.feed(event)
