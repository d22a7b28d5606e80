"""Compaction that the person asks for, with its preview."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from agent.branch import OpenBranch
from agent.config.config import Config
from agent.hooks.hooks import SessionHooks
from agent.tools.offer import ToolOffer
from agent.turn.summariser import CompactionSummaries
from context import AssembledRequest, Context
from context.compaction.compact import CAUSE_MANUAL, CompactionReceipt
from context.compaction.no_plan import nothing_leaves
from context.compaction.preview import CompactionPreview
from context.compaction.projection import PlannedCompaction, ProjectedCompaction
from context.compaction.undo import UndoReceipt
from context.errors import RequestTooLarge
from foundation.errors import TemporaryFailure
from models.chat.port import ChatModel


class CompactingSession(Protocol):
    """What a compaction needs of its session."""

    context: Context
    config: Config
    branch: OpenBranch
    hooks: SessionHooks
    offer: ToolOffer

    @property
    def busy(self) -> bool: ...

    @property
    def model(self) -> ChatModel: ...

    async def prepare_model(self) -> None: ...

    async def preview_request(self) -> AssembledRequest: ...


class ManualCompaction:
    """Archives older turns of the conversation that is open. Both methods raise TemporaryFailure before its first
    message, and give None where nothing can be archived.
    """

    def __init__(self, session: CompactingSession, summaries: CompactionSummaries | None) -> None:
        self._session = session
        self._summaries = summaries

    async def preview(self, *, focus: str = "") -> CompactionPreview | None:
        """The preview of `run`. Raises AuditFailed and UselessCompaction where nothing would be archived."""
        session = self._session
        if (plan := await self._plan(focus)) is None:
            return None
        counter, by_model = session.model.counter, self._summaries is not None
        return await asyncio.to_thread(
            session.context.outlook, plan, session.config.archive, counter, by_model=by_model
        )

    async def run(
        self, on_page: Callable[[int], None] | None = None, *, label: str = "", focus: str = ""
    ) -> CompactionReceipt | None:
        """Archives them now. `focus`: words of what the summary keeps first.

        `on_page` is called for each page that is verified, from another thread; what it raises aborts, with nothing
        archived. Raises TemporaryFailure where the session's `stop` ends the model that summarises.
        """
        session = self._session
        plan: PlannedCompaction | ProjectedCompaction | None = await self._plan(focus)
        if plan is None:
            return None
        counter = session.model.counter
        if self._summaries:
            plan = await self._summaries.write(plan, counter)
            if plan is None:
                raise TemporaryFailure("Stopped", "The summary was stopped. Nothing was archived.")
        await asyncio.to_thread(session.hooks.before_compaction, "manual")
        receipt = await asyncio.to_thread(
            session.context.compact, plan, counter, on_page, label=label, cause=CAUSE_MANUAL
        )
        await session.branch.settle()
        return receipt

    async def nothing_leaves(self) -> str:
        """Why `preview` or `run` gave None, in a sentence."""
        session = self._session
        conversation = session.branch.opened()
        if session.busy:
            return "Nothing is archived while an answer is being written. Try again afterwards."
        model = session.model
        return await asyncio.to_thread(
            nothing_leaves, session.context.state, conversation, model.profile, model.counter
        )

    async def undo(self) -> UndoReceipt:
        """Undoes the newest compaction. Raises Misuse where there is none, and TemporaryFailure during a turn."""
        session = self._session
        conversation = session.branch.opened()
        if session.busy:
            raise TemporaryFailure(
                "Still answering", "A compaction can only be undone between turns.", "Wait, or stop first."
            )
        await session.prepare_model()
        model = session.model
        tools = session.offer.current(conversation.id, model.profile)
        receipt = await asyncio.to_thread(
            session.context.undo_compaction, conversation, model.profile, model.counter, tools=tools
        )
        await session.branch.settle()
        return receipt

    async def _plan(self, focus: str) -> PlannedCompaction | None:
        session = self._session
        conversation = await session.branch.reload(session.branch.opened())  # the last turn moved its leaf
        if conversation.leaf is None or session.busy:
            return None
        await session.prepare_model()
        model = session.model
        tail = await self._next_tail()
        return await asyncio.to_thread(
            session.context.plan_compaction,
            conversation,
            conversation.leaf,
            model.profile,
            model.counter,
            focus=focus,
            tools=session.offer.current(conversation.id, model.profile),
            tail=tail,
        )

    async def _next_tail(self) -> int:
        """Tokens of what any next message brings, as the context meter counts them."""
        try:
            report = (await self._session.preview_request()).report
        except RequestTooLarge:
            return 0
        return sum(zone.tokens for zone in report.zones if zone.name == "D")
