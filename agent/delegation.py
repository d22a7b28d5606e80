"""Answers delegated questions: a turn in a conversation of its own, with tools that only read.

The conversation is of the kind `delegate`: it is no chat to go on with, and its question is derived from the call, so
that only what its tools and its answer found is recalled. It runs on the session's event loop, with the session's
model, while the turn waits for its tool.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Final, Protocol

from msgspec.structs import replace

from agent import events
from agent.background.jobs import SessionJobs
from agent.config.config import Config
from agent.permissions.action import PermissionAnswer
from agent.permissions.mode import PermissionMode
from agent.permissions.policy import Policy
from agent.spending.budget import SpendingBudget
from agent.tools.delegate import with_course
from agent.tools.port import ToolFailure, ToolRun
from agent.tools.registry import Toolbox
from agent.turn.ports import TurnInput, TurnPorts
from agent.turn.store import StoredTurn
from agent.turn.turn import TurnRun
from context import AssembledRequest, Attachment, Context, Turn
from context.report import ContextReport
from foundation.privacy import clear
from memory.memory import Memory
from memory.records import Conversation
from models.chat.port import ChatModel

KIND: Final = "delegate"
_POLL: Final = 0.1  # seconds between looks at whether the turn was stopped


class DelegatingSession(Protocol):
    """What a delegated turn shares with its session."""

    memory: Memory
    config: Config
    context: Context
    toolbox: Toolbox
    permissions: Policy
    budget: SpendingBudget
    jobs: SessionJobs
    hidden: dict[int, tuple[str, ...]]

    @property
    def conversation(self) -> Conversation | None: ...

    @property
    def model(self) -> ChatModel: ...


class Delegation:
    """Answers the delegated questions of one session, at most `tools.delegate_calls` of a turn."""

    def __init__(self, session: DelegatingSession) -> None:
        self._session = session
        self._loop: asyncio.AbstractEventLoop | None = None
        self._made = 0

    def begin_turn(self) -> None:
        """Counts anew. Called on the event loop, which delegated turns run on."""
        self._loop = asyncio.get_running_loop()
        self._made = 0

    def answer(self, question: str, files: Sequence[str], run: ToolRun) -> str:
        """See agent.tools.delegate. Called off the event loop."""
        most = self._session.toolbox.settings.delegations
        if self._loop is None or self._made >= most:
            raise ToolFailure("Too many questions", f"A turn may delegate {most} questions; answer from what you have.")
        self._made += 1
        delegated = _DelegatedTurn(self._session, run)
        future = asyncio.run_coroutine_threadsafe(delegated.answer(_worded(question, files)), self._loop)
        while True:
            try:
                return future.result(_POLL)
            except TimeoutError:
                if future.done():
                    raise
            if run.stopped.is_set():
                self._loop.call_soon_threadsafe(delegated.stop)


class _DelegatedTurn:
    """One delegated question. It is the state of its turn, as a session is of its own (agent.turn.store.TurnState)."""

    def __init__(self, session: DelegatingSession, run: ToolRun) -> None:
        self.conversation: Conversation | None = None
        self.report: ContextReport | None = None
        self.next_title = ""
        self.hidden: dict[int, tuple[str, ...]] = {}
        self._session = session
        self._run = run
        self._tools = session.toolbox.only_reading()
        self._turn: TurnRun | None = None
        self._spent = 0  # tokens
        self._too_expensive = False

    def stop(self) -> None:
        if self._turn is not None:
            self._turn.stop()

    async def answer(self, question: str) -> str:
        """The answer, with its course. Raises ToolFailure where there is none."""
        await asyncio.to_thread(self._begin, question)
        parent = self._session.conversation
        delegated_in = (parent.source, parent.id) if parent else None
        message = TurnInput(question, delegated_by=self._run.entry, delegated_in=delegated_in)
        self._turn = TurnRun(self._ports(), message)
        if self._run.stopped.is_set():
            self._turn.stop()
        last: object = None
        async with aclosing(self._turn.events()) as turn_events:
            async for event in turn_events:
                self._take(event)
                last = event
        conversation = self.conversation.id if self.conversation else ""
        where = f"Its course so far is conversation {conversation}."
        match last:
            case events.AnswerStored(text=text, entry=entry):
                return with_course(text, entry, conversation)
            case events.TurnFailed(title=title, message=failure):
                raise ToolFailure(title, f"{failure} {where}")
            case _ if self._too_expensive:
                most = self._tools.settings.delegate_tokens
                raise ToolFailure("Too expensive", f"The question took more than {most:,} tokens. {where}")
            case _:
                raise ToolFailure("Stopped", f"It was stopped before its answer. {where}")

    def _begin(self, question: str) -> None:
        parent, title = self._session.conversation, " ".join(question.split())[:60]
        self.conversation = self._session.memory.conversations.new(
            clear(f"Delegated: {title}"), kind=KIND, labels=self._session.context.new_labels(self._session.conversation)
        )
        if parent is not None:
            self.hidden = {self.conversation.seq: self._session.hidden.get(parent.seq, ())}

    def _take(self, event: events.SessionEvent) -> None:
        """Shows progress, answers for the person, who is not asked, and stops what costs too much."""
        match event:
            case (
                events.PermissionRequested(answer=answer)
                | events.CallLimitReached(answer=answer)
                | events.SpendingLimitReached(answer=answer)
            ):
                answer.set_result(PermissionAnswer(False, attended=False))
            case events.ToolStarted(summary=summary):
                self._run.report(f"{summary}\n")
            case events.Retrying():
                self._run.report(f"{event.text}\n")
            case events.UsageKnown(usage=usage):
                self._spent += usage.prompt_tokens + usage.completion_tokens
                if self._spent > self._tools.settings.delegate_tokens:
                    self._too_expensive = True
                    self.stop()
            case _:
                pass

    def _ports(self) -> TurnPorts:
        session, model = self._session, self._session.model
        return TurnPorts(
            model=model,
            tools=self._tools,
            permissions=Policy(session.permissions.rules, PermissionMode.READ_ONLY),
            budget=session.budget,
            store=StoredTurn(
                self,
                session.memory,
                session.context,
                model,
                self._tools,
                budget=session.budget,
                answers=session.jobs.answers,
                purpose=KIND,
            ),
            large_texts=_Unfolded(),
            prepare=_nothing,
            prefetch=lambda _: None,
            reload=tuple,
            refresh_tools=_no_notices,
            assemble=self._assemble,
            compact=lambda planned, cause: session.context.compact(planned, model.counter, cause=cause),
            context_settings=session.config.context,
            forgettings=session.memory.forgettings,
            warnings=tuple,
        )

    def _assemble(self, turn: Turn) -> AssembledRequest:
        model = self._session.model
        tools = self._tools.offered(model.profile)
        return self._session.context.assemble(turn, model.profile, model.counter, tools=tools, recall=False)


class _Unfolded:
    """A question is a message of its own, whatever its size."""

    def fold(self, message: TurnInput) -> tuple[TurnInput, tuple[Attachment, ...]]:
        return message, ()

    def archive(
        self, message: TurnInput, attachments: Sequence[Attachment], is_stopped: Callable[[], bool]
    ) -> tuple[TurnInput, list[str]]:
        return replace(message, attachments=tuple(attachments)), []


def _worded(question: str, files: Sequence[str]) -> str:
    return f"{question}\n\nBegin with these files: {', '.join(files)}" if files else question


async def _nothing() -> None:
    """The session's turn has prepared the model."""


async def _no_notices(_: Callable[[], bool]) -> Sequence[str]:
    return ()
