"""The two protocols as a scripted server writes them, so that one table of failures runs over both adapters."""

from dataclasses import dataclass
from typing import Any

from models.chat.open import open_model
from models.chat.port import Event
from models.messages import Message, Request
from models.settings import ModelSettings
from tests.loopback import Loopback, data, delta
from tests.models.chat.events import all_events, request

QUICK = ModelSettings(first_byte_timeout=0.7, stall_timeout=0.7, connect_timeout=2, retries=1, retry_wait=0.01)


@dataclass(frozen=True)
class Dialect:
    """How a protocol says a thing."""

    provider: str

    @property
    def is_openai(self) -> bool:
        return self.provider == "openai"

    def spec(self, server: Loopback) -> str:
        return f"{self.provider}:m@{server.address}{'/v1' if self.is_openai else ''}"

    def event(self, given: dict[str, Any]) -> bytes:
        return data(given, event=str(given["type"]))

    def text(self, *pieces: str) -> bytes:
        if self.is_openai:
            return b"".join(data(delta(content=piece)) for piece in pieces)
        pieces_of = [{"type": "text_delta", "text": piece} for piece in pieces]
        begin = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        return self.event(begin) + b"".join(
            self.event({"type": "content_block_delta", "index": 0, "delta": piece}) for piece in pieces_of
        )

    def end(self, reason: str) -> bytes:
        """The reason, without the last mark of the stream."""
        if self.is_openai:
            return data(delta(reason))
        return self.event({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}})

    @property
    def stop(self) -> str:
        return "stop" if self.is_openai else "end_turn"

    @property
    def done(self) -> bytes:
        return data("[DONE]") if self.is_openai else self.event({"type": "message_stop"})

    def error(self, code: object, message: str) -> bytes:
        if self.is_openai:
            return data({"error": {"code": code, "message": message}})
        return self.event({"type": "error", "error": {"type": code, "message": message}})


DIALECTS = (Dialect("openai"), Dialect("anthropic"))


async def answered(
    server: Loopback, dialect: Dialect, *messages: Message | str, env: dict[str, str] | None = None
) -> list[Event]:
    model = open_model(dialect.spec(server), settings=QUICK, env=env or {})
    try:
        return await all_events(model, request(*messages))
    finally:
        await model.close()


async def sent_body(server: Loopback, dialect: Dialect, asked: Request) -> dict[str, Any]:
    """The body of the newest request, after a model that was opened anew sent it."""
    model = open_model(dialect.spec(server), settings=QUICK, env={})
    try:
        await all_events(model, asked)
    finally:
        await model.close()
    return server.posts[-1].json
