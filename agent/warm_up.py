"""Warm-up: a server on this machine reads the head of a first request while the user types the message."""

import asyncio
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from agent.events import (
    AnswerStored,
    ContextReady,
    Notice,
    PermissionRequested,
    ReasoningDelta,
    SessionEvent,
    TextDelta,
    ToolStarted,
)
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
    "The first word took {:.0f} s. With `/settings models.warm_up`, the server reads the start "
    "of the request while you type."
)

_log = logger("warm_up")


class WarmUp:
    """The warm-up of one session: at most one for each new conversation and model."""

    def __init__(self, session: "Session") -> None:
        self._session = session
        self.task: asyncio.Task[None] | None = None  # the last one that was begun
        self._warmed = ""  # the spec of the model whose server has the head, while the conversation is new
        self._sent: float | None = None  # when the first request of a new conversation was sent
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

    async def follow(
        self, events: AsyncGenerator[SessionEvent, None], *, is_new: bool
    ) -> AsyncGenerator[SessionEvent, None]:
        """The events of a turn, and before a stored answer the notice that offers the warm-up, if one is due."""
        async with aclosing(events) as turn:
            async for event in turn:
                self._note(event, is_new=is_new)
                if isinstance(event, AnswerStored) and (offer := await self._offer()):
                    yield offer
                yield event

    def _note(self, event: SessionEvent, *, is_new: bool) -> None:
        """Measures the time to the first word of a new conversation, or to its first tool call."""
        match event:
            case ContextReady() if is_new and self._sent is None:
                self._sent = time.monotonic()
            case TextDelta() | ReasoningDelta() | PermissionRequested() | ToolStarted() if (
                self._sent is not None and not self._took
            ):
                self._took = time.monotonic() - self._sent
            case _:
                pass

    async def _offer(self) -> Notice | None:
        """The notice that offers the warm-up after a slow first word; once for a user."""
        took, self._sent, self._took = self._took, None, 0.0
        session = self._session
        if took < SLOW_S or session.config.models.warm_up or not session.profile.is_local:
            return None
        is_first = await asyncio.to_thread(session.models_used.offer_warm_up)
        return Notice("info", OFFER.format(took)) if is_first else None

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
