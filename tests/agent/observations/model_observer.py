"""A model that observes: its server's answers, and what a session made of them."""

import json
from collections.abc import Callable
from typing import Any

from agent.session import Session
from models.settings import ModelSettings
from tests.agent.sessions import turn
from tests.loopback import Loopback, Received, Reply, chat
from tests.servers import Scripted, scripted_llama  # noqa: F401 (fixtures)

Open = Callable[..., Session]

MODELS = ModelSettings(tools=True, window=32_000, retries=0, first_byte_timeout=5.0)
CHAT = "/v1/chat/completions"
LONG = (
    "The retry loop in net/http.py waits 250 ms and then doubles, because the gateway answers 429 after 40 requests a "
    "minute. The test client_retries covers it, and the flag HTTP_BACKOFF switches it off for the importer, which has "
    "a limit of its own: 12 requests, then a pause of 90 s."
)
NOTE: dict[str, Any] = {
    "entry": 1,
    "type": "discovery",
    "importance": "decision",
    "title": "The gateway answers 429 after 40 requests a minute",
    "facts": ["net/http.py waits 250 ms and then doubles", "the flag HTTP_BACKOFF switches it off"],
    "narrative": "Retries are for the gateway.",
    "concepts": ["why-it-exists"],
    "read": ["net/http.py"],
}


def notes(*given: dict[str, Any], prompt_tokens: int = 900) -> Reply:
    return chat(json.dumps({"observations": list(given)}), prompt_tokens=prompt_tokens)


async def say(session: Session, server: Loopback, text: str = LONG, answer: str = "Good.") -> list[Any]:
    server.plays(chat(answer))
    seen = await turn(session, text)
    await session.background.idle()
    return seen


def asked(observer: Loopback) -> list[Received]:
    return [received for received in observer.posts if received.path == CHAT]


def made(session: Session) -> dict[str, str]:
    """Titles of the observations by who made them."""
    return {item.observation.title: item.maker for item in session.memory.observations.newest(99)}
