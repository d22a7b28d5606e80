"""Client of any server with OpenAI's chat completions: llama.cpp, LM Studio, Ollama, mlx_lm.server, OpenAI."""

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import Any, cast

from msgspec import structs

from foundation.bounded_json import BadJson, Json, load_json
from models.chat import errors
from models.chat.errors import AttemptFailed, Endpoint
from models.chat.http import HttpResponse, Transport
from models.chat.joined_text import joined_text
from models.chat.openai import probe
from models.chat.openai import request as openai_request
from models.chat.openai.reply import OpenAIReplyReader
from models.chat.openai.slots import ServerSlots
from models.chat.port import AnswerEnd, AnswerError, Connected, Event, Profile, StopReason, with_window
from models.chat.retry import with_retries
from models.chat.sampling import local_sampling
from models.chat.spec import ModelSpec
from models.chat.sse import EventParser, ServerEvent
from models.chat.text_tools.stream import stream_answer
from models.limits import StreamLimitExceeded
from models.messages import Request, Usage
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
        self._takes_schema = True  # until the server rejects one
        self._sets_sampling = False  # whether the server's owner chose the sampling
        self._slots = ServerSlots()
        self._flavour = spec.provider if spec.provider != "openai" else ""
        self.endpoint = Endpoint(spec.provider, spec.name, address, key_variable)
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
        if self._profile.remote and "api.openai.com" in self.endpoint.address:
            return self._profile  # it tells none of these
        result = await probe.probe_server(self.endpoint.address, self.endpoint.model, self._transport.ask)
        self._flavour = result.server or self._flavour
        self._sets_sampling = result.sets_sampling
        self._slots.use(result.slots or 1)
        self._profile = probe.refine_profile(self._profile, result, self._settings)
        if result.server == "llamacpp" and not self._calibrated:
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

    def learn_window(self, window: int) -> None:
        self._profile = with_window(self._profile, window)

    def stream(self, request: Request) -> AsyncGenerator[Event, None]:
        return stream_answer(request, lambda: self._profile, self._send, self.call_in_text)

    async def _send(self, request: Request) -> AsyncGenerator[Event, None]:
        """Sends the request; once more without its schema if the server rejects it with one."""
        has_schema = request.schema is not None and self._takes_schema
        async with aclosing(with_retries(lambda: self._attempt(request), self._settings)) as events:
            async for event in events:
                if has_schema and isinstance(event, AnswerError) and event.code == "bad_request":
                    self._takes_schema = False
                    break
                yield event
        if has_schema and not self._takes_schema:
            async with aclosing(with_retries(lambda: self._attempt(request), self._settings)) as events:
                async for event in events:
                    yield event

    def call_in_text(self) -> None:
        """Offers tools in text from now on: the server rejected them."""
        self._profile = structs.replace(self._profile, tools=False, text_tools=True)

    async def close(self) -> None:
        await self._transport.close()

    def body(self, request: Request, slot: int | None = None) -> bytes:
        """The exact bytes that are sent: equal for equal requests. `slot`: of a llama.cpp server."""
        given = self._settings.temperature if request.temperature is None else request.temperature
        extra: Json = {"return_progress": True, "cache_prompt": True} if self._flavour == "llamacpp" else {}
        if given is None and not self._sets_sampling:
            extra |= local_sampling(self._profile, self._flavour)
        openai_itself = "api.openai.com" in self.endpoint.address
        return openai_request.openai_body(
            request,
            model=self.endpoint.model,
            vision=self._profile.vision,
            native_tools=self._profile.tools,
            system_role=self._profile.system_role,
            takes_schema=self._takes_schema,
            extra=extra if slot is None else extra | {"id_slot": slot},
            temperature=given,
            limit_name="max_completion_tokens" if openai_itself else "max_tokens",
        )

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
            except StreamLimitExceeded as excess:
                raise AttemptFailed(errors.limit_error(self.endpoint, excess)) from excess
            for event in reader.finish():
                yield event
            usage = reader.counted() or self._reckoned(request, reader.words)
            self._slots.learn(conversation, usage.cached_tokens)
            yield usage
            yield AnswerEnd(reader.reason or StopReason.STOP)

    async def _streamed(self, reply: HttpResponse, reader: OpenAIReplyReader) -> AsyncGenerator[Event, None]:
        """Raises AttemptFailed where the stream holds no JSON, an error, or no end."""
        parser = EventParser(self._settings.limits)
        async for chunk in reply.paced_chunks():
            events = self._chunk_events(parser, chunk, reader)
            for event in joined_text(events) if reply.is_fast else events:
                yield event
            if reader.is_done:
                return
        for sent in parser.close():
            if _is_json(sent.data):
                for event in self._read(sent, reader):
                    yield event
        if reader.reason is None:
            raise AttemptFailed(errors.truncated_error(self.endpoint), retry=True)

    def _chunk_events(self, parser: EventParser, chunk: bytes, reader: OpenAIReplyReader) -> Iterator[Event]:
        for sent in parser.feed(chunk):
            if sent.data.strip() == "[DONE]":
                if reader.reason is None and not reader.words and reader.usage is None:
                    raise AttemptFailed(errors.truncated_error(self.endpoint, "an empty answer"), retry=True)
                reader.is_done = True
                return
            before = reader.taken
            yield from self._read(sent, reader)
            parser.quiet.take_event(len(sent.data), reader.taken - before)

    def _read(self, sent: ServerEvent, reader: OpenAIReplyReader) -> Iterator[Event]:
        try:
            chunk: object = load_json(sent.data)
        except BadJson as error:
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, sent.data, str(error))) from None
        if not isinstance(chunk, dict):
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, sent.data))
        self._look_for_error(cast("dict[str, Any]", chunk), named=sent.event == "error")
        return reader.feed(cast("dict[str, Any]", chunk))

    def _look_for_error(self, chunk: dict[str, Any], *, named: bool = False) -> None:
        if not named and ("choices" in chunk or not chunk.get("error")):
            return
        code, message = errors.find_error(chunk) or ("", str(chunk))
        error: object = chunk.get("error")
        inner = cast("dict[str, Any]", error) if isinstance(error, dict) else {}
        status = inner["code"] if isinstance(inner.get("code"), int) else 0
        failed = errors.error_from_body(self.endpoint, message, code=code, status=status)
        raise AttemptFailed(failed, retry=failed.code in {"server_error", "rate_limited"})

    async def _at_once(self, reply: HttpResponse, reader: OpenAIReplyReader) -> AsyncGenerator[Event, None]:
        """Events of a single JSON object, from a server that does not stream."""
        body = await reply.whole()
        try:
            value: object = load_json(body)
        except BadJson as error:
            raise AttemptFailed(
                errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace"), str(error))
            ) from None
        if not isinstance(value, dict):
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace")))
        answer = cast("dict[str, Any]", value)
        self._look_for_error(answer)
        if "choices" not in answer:
            raise AttemptFailed(errors.invalid_json_error(self.endpoint, body[:1000].decode("utf-8", "replace")))
        for event in reader.feed(answer):
            yield event

    def _reckoned(self, request: Request, words: int) -> Usage:
        """An estimate, for a server that reports no usage."""
        prompt = request_tokens(request, self._counter, self._profile.images)
        return Usage(prompt, words // 4, estimated=True)


def _is_json(text: str) -> bool:
    try:
        load_json(text)
    except BadJson:
        return False
    return True
