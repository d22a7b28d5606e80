"""Client of any server with OpenAI's chat completions: llama.cpp, LM Studio, Ollama, mlx_lm.server, OpenAI."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack
from typing import Any, cast

from msgspec import structs

from foundation.bounded_json import BadJson, load_json
from foundation.privacy import clear
from models.chat import errors
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.http import HttpResponse, Transport
from models.chat.joined_text import joined_text
from models.chat.openai import probe
from models.chat.openai import request as openai_request
from models.chat.openai.reply import OpenAIReplyReader
from models.chat.openai.slots import ServerSlots
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
from models.chat.sampling import local_sampling
from models.chat.spec import ModelSpec
from models.chat.sse import EventParser, ServerEvent
from models.chat.stream_objects import error_in, read_object, unwrapped
from models.chat.text_tools.prompt import with_questions
from models.chat.text_tools.stream import stream_answer
from models.limits import StreamLimitExceeded
from models.messages import Message, Request, Usage
from models.settings import ModelSettings
from models.tokens import SAMPLES, Estimate, request_tokens


class OpenAICompatible:
    """A ChatModel over HTTP. Loads and sends nothing before `prepare` or the first request."""

    def __init__(
        self, spec: ModelSpec, *, address: str, profile: Profile, settings: ModelSettings, key: str, key_variable: str
    ) -> None:
        self._spec = spec
        self._settings = settings
        self._profile = profile
        self._counter = Estimate()
        self._calibrated = False
        self._sets_sampling = False  # whether the server's owner chose the sampling
        self._slots = ServerSlots()
        self._flavour = spec.provider if spec.provider != "openai" else ""
        self.endpoint = Endpoint(spec.provider, spec.name, address, key_variable, key)
        self._origin = clear(f"{spec.provider}:{spec.name}@{address}")  # a name may hold a secret
        self._quirks = quirks_of(spec.provider, address, spec.name)
        self._refused = RefusedFields(self._quirks)
        headers: Mapping[str, str] = {"authorization": f"Bearer {key}"} if key else {}
        self._transport = Transport(self.endpoint, settings, headers)

    @property
    def profile(self) -> Profile:
        return self._profile

    @property
    def counter(self) -> Estimate:
        return self._counter

    async def prepare(self) -> Profile:
        """Queries the server for its real window, vision, tools and token counts."""
        if not self._quirks.states_window:
            return self._profile
        result = await probe.probe_server(self.endpoint.address, self.endpoint.model, self._transport.ask)
        self._flavour = result.server or self._flavour
        self._sets_sampling = result.sets_sampling
        self._slots.use(result.slots or 1)
        if result.server:
            self._quirks = quirks_of(result.server, self.endpoint.address, self.endpoint.model)
        self._profile = probe.refine_profile(self._profile, result, self._settings)
        if self._quirks.counts_tokens and not self._calibrated:
            await self.calibrate(SAMPLES)
            await self.calibrate(SAMPLES[:1])  # plain words alone may cost more than the rest suggests
        return self._profile

    async def calibrate(self, texts: Iterable[str]) -> None:
        """Corrects the token estimate by llama.cpp's own `/tokenize`, if the server has it. Not while a request is
        assembled."""
        counted = actual = 0
        for text in texts:
            answer = await self._transport.ask(
                self.endpoint.address.removesuffix("/v1") + "/tokenize", {"content": text}
            )
            tokens = (answer or {}).get("tokens")
            if not isinstance(tokens, list):
                return
            counted += self._counter.count(text)
            actual += len(cast("list[Any]", tokens))
        self._counter.learn(counted, actual)
        self._calibrated = True

    def learn_window(self, window: int, *, stated: bool = True) -> None:
        self._profile = with_window(self._profile, window, stated=stated)

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        def send(request: Request) -> AsyncGenerator[Event, None]:
            def learn(failed: AnswerError) -> bool:
                return self._refused.take(failed, self._messages(request), has_schema=request.schema is not None)

            return resent(lambda: with_retries(lambda: self._attempt(request), self._settings), learn)

        return stream_answer(request, lambda: self._profile, send, self.call_in_text)

    def call_in_text(self) -> None:
        """Offers tools in text from now on: the server rejected them."""
        self._profile = structs.replace(self._profile, tools=False, text_tools=True)

    async def close(self) -> None:
        await self._transport.close()

    def body(self, request: Request, slot: int | None = None) -> bytes:
        """The exact bytes that are sent: equal for equal requests. `slot`: of a llama.cpp server."""
        given = self._settings.temperature if request.temperature is None else request.temperature
        extra = dict(self._quirks.extra)
        if given is None and not self._sets_sampling:
            extra |= local_sampling(self._profile, self._flavour, self.endpoint.address)
        return openai_request.openai_body(
            structs.replace(request, messages=tuple(self._messages(request))),
            model=self.endpoint.model,
            vision=self._profile.vision,
            native_tools=self._profile.tools,
            system_role=self._profile.system_role,
            extra=extra if slot is None else extra | {"id_slot": slot},
            temperature=given,
            refused=self._refused,
        )

    def _messages(self, request: Request) -> list[Message]:
        return list(for_provider(request.messages, self._origin, self._quirks.call_ids))

    async def _attempt(self, request: Request) -> AsyncGenerator[Event, None]:
        conversation = request.cache_slot.conversation
        async with AsyncExitStack() as stack:
            body = self.body(request, self._slots.slot(conversation))
            reply = await self._transport.post(stack, "/chat/completions", body)
            yield Connected()
            reader = OpenAIReplyReader(self._settings.limits)
            pieces = self._streamed(reply, reader) if await reply.is_stream() else self._at_once(reply, reader)
            try:
                async for event in pieces:
                    yield event
                errors.require_end(self.endpoint, reader.reason or reader.is_done, reader.broken_reason)
            except StreamLimitExceeded as excess:
                raise AttemptFailed(errors.limit_error(self.endpoint, excess)) from excess
            except AttemptFailed:
                for event in reader.rest():
                    yield event
                raise
            for event in reader.finish():
                yield event
            if fields := reader.provider_fields(self._origin):
                yield fields
            usage = reader.counted() or self._reckoned(request, reader.words)
            self._slots.learn(conversation, usage.cached_tokens)
            self._profile = with_window_restored(self._profile, usage.prompt_tokens)
            yield usage
            yield AnswerEnd(reader.reason or StopReason.STOP)

    async def _streamed(self, reply: HttpResponse, reader: OpenAIReplyReader) -> AsyncGenerator[Event, None]:
        """Raises AttemptFailed where the stream holds no JSON, an error, or no end."""
        parser = EventParser(self._settings.limits)
        async for chunk in reply.paced_chunks():
            events = self._chunk_events(parser, chunk, reader, reply)
            for event in joined_text(events) if reply.is_fast else events:
                yield event
            if reader.is_done:
                return
        for sent in parser.close():
            if _is_json(sent.data):
                for event in self._read(sent, reader):
                    yield event

    def _chunk_events(
        self, parser: EventParser, chunk: bytes, reader: OpenAIReplyReader, reply: HttpResponse
    ) -> Iterator[Event]:
        progress = parser.progress
        for sent in parser.feed(chunk):
            if sent.data.strip() == "[DONE]":
                if not (reader.has_ended or reader.words or reader.taken or reader.usage):
                    raise AttemptFailed(errors.truncated_error(self.endpoint, "an empty answer"), retry=True)
                reader.is_done = True
                return
            before = reader.taken
            yield from self._read(sent, reader)
            parser.quiet.take_event(len(sent.data), reader.taken - before)
            if reader.has_moved:
                reply.note_progress(words=reader.taken > 0, ended=reader.has_ended)
        if parser.progress != progress and not (reader.taken or reader.has_ended):
            reply.note_progress()

    def _read(self, sent: ServerEvent, reader: OpenAIReplyReader) -> Iterator[Event]:
        chunk = read_object(self.endpoint, sent)
        yield from reader.feed(chunk)
        if failed := error_in(self.endpoint, chunk, named=sent.event == "error"):
            raise failed

    async def _at_once(self, reply: HttpResponse, reader: OpenAIReplyReader) -> AsyncGenerator[Event, None]:
        """Events of a single JSON object, from a server that does not stream."""
        body = await reply.whole()
        try:
            value: object = load_json(body)
        except BadJson as error:
            raise AttemptFailed(
                errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace"), str(error))
            ) from None
        value = unwrapped(value)
        if not isinstance(value, dict):
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace")))
        answer = cast("dict[str, Any]", value)
        if "choices" in answer:
            for event in reader.feed(answer):
                yield event
        if failed := error_in(self.endpoint, answer):
            raise failed
        if "choices" not in answer:
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace")))
        if not (reader.has_ended or reader.taken):
            raise AttemptFailed(errors.truncated_error(self.endpoint, "an empty answer"), retry=True)

    def _reckoned(self, request: Request, words: int) -> Usage:
        """An estimate, for a server that reports no usage."""
        if self._profile.repeats_question:
            request = structs.replace(request, messages=tuple(with_questions(request.messages)))
        prompt = request_tokens(request, self._counter, self._profile.images)
        return Usage(prompt, words // 4, estimated=True)


def _is_json(text: str) -> bool:
    try:
        load_json(text)
    except BadJson:
        return False
    return True
