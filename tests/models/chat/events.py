"""Asking a model in a test: all its events, or the words alone."""

from collections.abc import Mapping

from models.chat.open import open_model
from models.chat.port import AnswerError, ChatModel, Event, ReasoningChunk, TextChunk
from models.messages import Message, Request, user
from models.settings import ModelSettings


def request(*messages: Message | str, **given: object) -> Request:
    turned = tuple(user(one) if isinstance(one, str) else one for one in messages) or (user("Hello?"),)
    return Request(model="scripted", messages=turned, **{"temperature": 0.0, **given})


async def all_events(model: ChatModel, asked: Request | None = None) -> list[Event]:
    return [event async for event in model.stream(asked or request())]


async def events_of(
    spec: str, settings: ModelSettings, asked: Request | None = None, env: Mapping[str, str] | None = None
) -> list[Event]:
    """A model opened, asked once and closed."""
    model = open_model(spec, settings=settings, env=env or {})
    try:
        return await all_events(model, asked)
    finally:
        await model.close()


def words(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextChunk))


def thoughts(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningChunk))


def failure(events: list[Event]) -> AnswerError:
    """The one AnswerError that the events end with."""
    assert isinstance(events[-1], AnswerError), events
    assert sum(isinstance(event, AnswerError) for event in events) == 1
    return events[-1]
