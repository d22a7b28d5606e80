"""A session: one conversation at a time in one workspace, for any face.

A face calls `send` and iterates; what it shows is already on its way to disk. Nothing here knows a screen.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Self

from agent.config import Config
from agent.events import Notice, SessionEvent
from agent.tools.files import ReadFile
from agent.tools.memory_tools import RecallPassage, Remember, SearchMemory
from agent.tools.toolbox import Toolbox
from agent.turn import TurnRun
from context import Attachment, Context
from context.report import Report
from foundation.clock import Clock, SystemClock
from foundation.errors import NotYet, PalimpsestError
from foundation.paths import Workspace
from foundation.privacy import clear
from memory.cold import Conversation, Entry
from memory.workspace_memory import Memory
from models.chat.open import open_model
from models.chat.port import ChatModel
from models.messages import Fact

Facts = Callable[[], tuple[Fact, ...]]


class Session:
    """Send messages, stop, resume, branch, rename. One turn at a time; `close` when done."""

    def __init__(
        self, workspace: Workspace, memory: Memory, config: Config, model: ChatModel, clock: Clock, facts: Facts
    ) -> None:
        self.workspace = workspace
        self.memory = memory
        self.config = config
        self.model = model
        self.clock = clock
        self.context = Context(workspace, memory, config.context, clock)
        self.conversation: Conversation | None = None
        self.report: Report | None = None
        self.working = ""  # what goes on in the background, for the status bar
        self._facts = facts
        self._turn: TurnRun | None = None
        self._prepared: ChatModel | None = None
        self._background: set[asyncio.Task[None]] = set()
        self.toolbox = Toolbox(
            (
                SearchMemory(memory, self._in_view),
                RecallPassage(memory),
                Remember(memory, lambda: self.conversation.id if self.conversation else None),
                ReadFile(workspace.root),
            ),
            config.tools,
        )

    @classmethod
    def open(cls, workspace: Workspace, config: Config, *, clock: Clock | None = None, facts: Facts = tuple) -> Self:
        """Opens the workspace's memory and the configured model (which is not called yet).

        Answers that a crash cut off are kept as they came. Raises PalimpsestError.
        """
        clock = clock or SystemClock()
        memory = Memory.open(workspace, clock)
        try:
            memory.cold.recover()
            model = open_model(config.model, settings=config.models, env=config.environment)
        except BaseException:
            memory.close()
            raise
        return cls(workspace, memory, config, model, clock, facts)

    @property
    def busy(self) -> bool:
        return self._turn is not None

    def facts(self) -> tuple[Fact, ...]:
        return self._facts()

    async def send(
        self, text: str, attachments: Sequence[Attachment] = (), skill: str = ""
    ) -> AsyncIterator[SessionEvent]:
        """One turn. Events as agent.events tells; closing the iterator stops the answer and keeps what came.

        Raises NotYet while another turn is under way.
        """
        if self._turn is not None:
            raise NotYet("Still answering", "One message at a time.", "Wait, or stop the answer first.")
        self._turn = turn = TurnRun(self, text, attachments, skill)
        events = turn.events()
        try:
            async for event in events:
                yield event
        finally:
            await events.aclose()  # type: ignore[attr-defined]  # an async generator behind its narrow face
            self._turn = None
            self._after_turn()

    def stop(self) -> None:
        """Ends the answer; what came is kept. Does nothing where there is none."""
        if self._turn is not None:
            self._turn.stop()

    async def prepare_model(self) -> Notice | None:
        """Asks the model's server once for its true window and abilities; a notice where it does not say."""
        if self._prepared is self.model:
            return None
        try:
            await self.model.prepare()
        except PalimpsestError as error:
            return Notice("warning", f"{error.title}: {error.message} {error.hint}".strip())
        self._prepared = self.model
        return None

    async def use_model(self, spec: str) -> None:
        """Answers come from `spec` from now on. Raises PalimpsestError and keeps the old one where it cannot."""
        model = open_model(spec, settings=self.config.models, env=self.config.environment)
        await model.prepare()
        old, self.model, self._prepared = self.model, model, model
        await old.close()

    def new(self) -> None:
        """The next message begins a conversation."""
        self.conversation = None
        self.report = None

    def resume(self, ref: str) -> Conversation:
        """Goes on with a conversation, by id, unique beginning of an id, or exact title. Raises NotFound."""
        self.conversation = self.memory.cold.conversation(ref)
        self.report = None
        return self.conversation

    def resume_latest(self) -> Conversation | None:
        self.conversation = self.memory.cold.latest()
        return self.conversation

    def rename(self, title: str) -> Conversation:
        """Gives the conversation another title. Raises NotYet before its first message."""
        conversation = self._begun()
        self.memory.cold.rename(conversation.seq, clear(title))
        self.conversation = self.memory.cold.conversation_at(conversation.seq)
        return self.conversation

    def branch_from(self, entry_id: str) -> Entry:
        """The next message takes this entry's place; what stood there stays on its own branch. Raises NotFound."""
        conversation = self._begun()
        entry = self.memory.cold.find(entry_id, conversation.seq)
        self.memory.cold.set_leaf(conversation.seq, entry.parent)
        self.conversation = self.memory.cold.conversation_at(conversation.seq)
        return entry

    def history(self, limit: int = 20, before: int | None = None) -> list[Entry]:
        """The conversation's newest entries up to `before` (a seq, not included), oldest first, texts included."""
        if self.conversation is None:
            return []
        conversation = self.memory.cold.conversation_at(self.conversation.seq)
        start = conversation.leaf if before is None else self.memory.cold.entry(before).parent
        if start is None:
            return []
        found: list[Entry] = []
        for entry in self.memory.cold.path(start):
            found.append(entry)
            if len(found) == limit:
                break
        return found[::-1]

    async def close(self) -> None:
        """Ends the turn, lets the background finish, and closes the store."""
        self.stop()
        if self._background:
            await asyncio.wait(self._background, timeout=5)
        await self.model.close()
        self.memory.close()

    def _begun(self) -> Conversation:
        if self.conversation is None:
            raise NotYet("No conversation yet", "It begins with your first message.", "Say something first.")
        return self.conversation

    def _in_view(self) -> frozenset[int]:
        if self.conversation is None or self.conversation.leaf is None:
            return frozenset()
        leaf = self.memory.cold.conversation_at(self.conversation.seq).leaf
        branch = self.memory.cold.branch(leaf) if leaf else None
        return frozenset(entry.seq for entry in branch.entries) if branch else frozenset()

    def _after_turn(self) -> None:
        """The readable mirror and the index, off the critical path."""
        if self.conversation is None:
            return
        task = asyncio.get_running_loop().create_task(self._settle(self.conversation.seq))
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _settle(self, conversation: int) -> None:
        self.working = "writing the mirror"
        try:
            await asyncio.to_thread(self.memory.mirrors.update, conversation)
        except (PalimpsestError, OSError) as error:
            self.working = f"mirror not written: {error}"
            return
        self.working = ""
