"""Warm-up: a server on this machine reads the head of a first request while the user types the message."""

import asyncio
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agent.events import AnswerStored, ContextReady, Notice, ReasoningDelta, SessionEvent, TextDelta
from foundation.errors import PalimpsestError
from foundation.log import logger
from foundation.privacy import clear
from memory.model_requests import TokenReserve
from models.chat.port import AnswerError, PrefillProgress, Profile
from models.messages import Request, Usage

if TYPE_CHECKING:
    from agent.session import Session

WARM_UP: Final = "warm_up"
"""The purpose of these requests in the ledger."""
SLOW_S: Final = 10.0  # seconds to the first word of a conversation, after which the warm-up is offered
OFFER: Final = (
    "The first word took {:.0f} s, while the server read the head of the request. `/settings models.warm_up` lets it "
    "read that while you type."
)

_log = logger("warm_up")


class WarmUp:
    """The warm-up of one session: at most one for each new conversation and model."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.task: asyncio.Task[None] | None = None  # the last one that was begun
        self._warmed = ""  # the spec of the model whose server has the head, while the conversation is new
        self._is_first = False  # whether the turn begins a conversation
        self._sent: float | None = None  # when its first request was sent
        self._took = 0.0  # seconds to its first word

    def start(self) -> None:
        """Begins where `models.warm_up` is set, the conversation is new and its model runs on this machine."""
        session = self._session
        if session.conversation is not None:
            self._warmed = ""
        elif (
            session.config.models.warm_up
            and session.profile.is_local
            and not session.busy
            and not session.workspace.is_read_only
            and self._warmed != session.profile.spec
        ):
            self._warmed = session.profile.spec
            self.task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Ends the request. What the server has read by then stays in its cache."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])
            self.task = None

    async def begin_turn(self) -> None:
        """Ends the request, because a message is sent."""
        await self.stop()
        self._sent, self._took, self._is_first = None, 0.0, self._session.conversation is None

    async def note(self, event: SessionEvent) -> Notice | None:
        """Measures the time to the first word of a conversation. If it was long, gives the notice that offers the
        warm-up before the end of the answer; once for a user."""
        match event:
            case ContextReady() if self._is_first and self._sent is None:
                self._sent = time.monotonic()
            case TextDelta() | ReasoningDelta() if self._sent is not None and not self._took:
                self._took = time.monotonic() - self._sent
            case AnswerStored() if self._took >= SLOW_S and self._may_offer:
                if await asyncio.to_thread(self._session.models_used.offer_warm_up):
                    return Notice("info", OFFER.format(self._took))
            case _:
                pass
        return None

    @property
    def _may_offer(self) -> bool:
        return self._session.profile.is_local and not self._session.config.models.warm_up

    async def _run(self) -> None:
        session, profile = self._session, self._session.profile
        try:
            if await asyncio.to_thread(session.budget.background_refusal):
                return
            preview = await session.preview_request()
            await self._send(replace(preview.request, max_tokens=1), profile)
        except (PalimpsestError, OSError) as error:  # the message itself will say so
            _log.warning("no warm-up: %s", error)

    async def _send(self, request: Request, profile: Profile) -> None:
        usage, first, read, start = None, None, 0, time.monotonic()
        try:
            async with aclosing(self._session.model.stream(request)) as events:
                async for event in events:
                    match event:
                        case PrefillProgress(done=read):
                            first = read if first is None else first
                        case Usage():
                            usage = event
                        case AnswerError(message=message):
                            _log.warning("no warm-up: %s", message)
                        case _:
                            pass
        finally:
            usage = usage or Usage(prompt_tokens=read, cached_tokens=first, estimated=True)
            if usage.prompt_tokens:
                ms = round((time.monotonic() - start) * 1_000)
                await asyncio.to_thread(self._count, usage, profile, ms)

    def _count(self, usage: Usage, profile: Profile, ms: int) -> None:
        session = self._session
        reserve = TokenReserve(
            purpose=WARM_UP,
            model=clear(profile.name),
            conversation=0,
            prompt_tokens=usage.prompt_tokens,
            answer_tokens=usage.completion_tokens,
        )
        ledger, cost = session.memory.model_requests, session.budget.cost(profile, usage)
        id_ = ledger.reserve(reserve, session.clock.now(), sys.maxsize)
        ledger.settle(id_, usage, ms, cost.fields if cost else None)
        session.budget.take(profile, usage)
