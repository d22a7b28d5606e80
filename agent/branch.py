"""The open branch of a session: what was said on it, newest first."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, suppress
from typing import TypeVar

from msgspec.structs import replace

from agent.branch_changes import branch_change
from agent.events import Notice, SessionEvent, UserStored
from context.checklist import Checklist, is_checklist, parse_checklist
from foundation.errors import Misuse, TemporaryFailure
from foundation.privacy import Cleared
from memory.errors import NotFound
from memory.memory import Memory
from memory.records import ONE_SHOT, Conversation, Entry, EntryKind
from models.messages import Role

PLAN_WITHIN = 2_000  # entries in which the plan is looked for

T = TypeVar("T")


class OpenBranch:
    """Reads and moves the branch of the conversation that is open, in a thread where it is asynchronous.

    While a message is `rewritten`, the branch that is read ends before it.
    """

    def __init__(self, memory: Memory) -> None:
        self.conversation: Conversation | None = None  # None before its first message
        self.rewritten: Entry | None = None  # the user's message that the next one replaces, on a branch
        self.rewound = ""  # the checkpoint (id) of a rewind that took files back for it
        self.dropped = ""  # the turn (id) that was last dropped and can be taken back
        self._memory = memory
        self._known: int | None = None  # the leaf's seq, as this session left it

    def select(self, conversation: Conversation | None) -> None:
        """Makes it the open conversation; None: the next message begins one."""
        self.conversation, self.rewritten, self.rewound, self.dropped = conversation, None, "", ""
        self._known = conversation.leaf if conversation else None

    async def take_changes(self) -> tuple[Notice, ...]:
        """What another window did to the branch since this session left it; given once."""
        if (conversation := self.conversation) is None:
            return ()

        def read() -> Notice | None:
            stored, known = self._memory.conversations, self._known
            with suppress(NotFound):  # deleted meanwhile: what needs it says so
                self._known = stored.at(conversation.seq).leaf
            return branch_change(stored, known, self._known, rewriting=self.rewritten is not None)

        change = await asyncio.to_thread(read)
        return (change,) if change else ()

    async def settle(self) -> None:
        """Takes up the branch as it is stored: this session changed it."""
        self._known = (await self.reload(self.opened())).leaf

    async def rename(self, title: Cleared) -> Conversation:
        """Gives the conversation another title. Raises TemporaryFailure before its first message."""
        conversation = self.opened()
        await asyncio.to_thread(self._memory.conversations.rename, conversation.seq, title)
        return await self.reload(conversation)

    async def branch_from(self, entry_id: str) -> Entry:
        """Has the next message replace one of the user's messages, on a branch; the old branch stays.

        Nothing is stored before that message is sent, or `move` is called. Until then `take_back` undoes it. Raises
        NotFound, and Misuse for an entry that is not the user's message.
        """
        conversation = self.opened()
        entry = await asyncio.to_thread(self._memory.conversations.find_entry, entry_id, conversation.seq)
        if entry.role is not Role.USER:
            raise Misuse("Not your message", f"{entry_id} is not a message of yours.", "/branch lists your messages.")
        self.rewritten, self.rewound = entry, ""
        return entry

    def take_back(self) -> bool:
        """Leaves the message as it is that the next one would have replaced. False where there is none."""
        rewritten, self.rewritten, self.rewound = self.rewritten, None, ""
        return rewritten is not None

    async def move(self) -> None:
        """Stores that the conversation goes on before the rewritten message, if there is one. Raises NotFound."""
        rewritten, self.rewritten, self.rewound = self.rewritten, None, ""
        if rewritten is not None:
            stored = self._memory.conversations
            self.conversation = await asyncio.to_thread(stored.set_leaf, rewritten.conversation_seq, rewritten.parent)
            self._known = self.conversation.leaf

    async def rewriting(
        self, events: AsyncGenerator[SessionEvent, None], newest: Callable[[], Entry]
    ) -> AsyncGenerator[SessionEvent, None]:
        """The events of a turn, whose `newest` entry is the branch's end for this session afterwards. Where a message
        is `rewritten`, the turn's message begins the branch; if that is not stored, everything is as before.
        """
        rewritten, rewound, is_stored = self.rewritten, self.rewound, False
        before = (await self.reload(self.opened())).leaf if rewritten else None
        await self.move()
        try:
            async with aclosing(events):
                async for event in events:
                    is_stored = is_stored or isinstance(event, UserStored)
                    yield event
        finally:
            if is_stored:
                with suppress(NotFound):  # another process deleted the conversation meanwhile
                    self._known = await asyncio.to_thread(self._end_of, newest())
            elif rewritten is not None:
                stored = self._memory.conversations
                self.conversation = await asyncio.to_thread(stored.set_leaf, rewritten.conversation_seq, before)
                self._known, self.rewritten, self.rewound = before, rewritten, rewound

    def _end_of(self, newest: Entry) -> int:
        """The seq that a turn with this newest entry ended with: of the entry, or of an answer to it that was cut
        off."""
        leaf = self._memory.conversations.at(newest.conversation_seq).leaf
        if leaf is not None and leaf != newest.seq:
            last = self._memory.conversations.entry(leaf)
            if last.parent == newest.seq and last.role is Role.ASSISTANT:
                return leaf
        return newest.seq

    def standing(self) -> Conversation | None:
        """The conversation as the store has it, with the leaf that the next message goes on from. Blocks."""
        if self.conversation is None:
            return None
        conversation = self._memory.conversations.at(self.conversation.seq)
        return replace(conversation, leaf=self.rewritten.parent) if self.rewritten else conversation

    async def recent(self, limit: int) -> list[Conversation]:
        """The conversations used last, newest first, without one-shots."""
        return await asyncio.to_thread(self._memory.conversations.recent, limit=limit, without=ONE_SHOT)

    async def own_messages(self, limit: int) -> list[tuple[Entry, str]]:
        """The user's last messages on this branch with their texts, newest first."""

        def read(entries: Iterator[Entry]) -> list[tuple[Entry, str]]:
            own = (entry for entry in entries if entry.role is Role.USER and entry.kind is EntryKind.MESSAGE)
            return [(entry, self._memory.passage(entry).text) for entry in itertools.islice(own, limit)]

        return await self._read(read)

    async def last_own_message(self) -> tuple[Entry, str]:
        """The user's last message with its text. Raises TemporaryFailure where there is none."""
        if not (last := await self.own_messages(1)):
            raise TemporaryFailure("Nothing to resend", "There is no message yet.", "Send a message first.")
        return last[0]

    async def is_answered(self) -> bool:
        """Whether the user's last message has an answer, or the beginning of one."""

        def read(entries: Iterator[Entry]) -> bool:
            after = itertools.takewhile(lambda entry: entry.role is not Role.USER, entries)
            return any(entry.role is Role.ASSISTANT and bool(self._memory.passage(entry).text) for entry in after)

        return await self._read(read)

    async def answers(self, limit: int) -> list[str]:
        """The last answers, newest first."""

        def read(entries: Iterator[Entry]) -> list[str]:
            texts = (self._memory.passage(entry).text for entry in entries if entry.role is Role.ASSISTANT)
            return list(itertools.islice((text for text in texts if text), limit))

        return await self._read(read)

    async def history(self, limit: int = 20, before: int | None = None) -> list[Entry]:
        """The conversation's last entries up to `before` (a seq, excluded), oldest first, texts included."""
        return await self._read(lambda entries: list(itertools.islice(entries, limit))[::-1], before)

    async def plan(self) -> Checklist | None:
        """The newest plan of the model among the last entries of this branch; None where there is none."""

        def read(entries: Iterator[Entry]) -> Checklist | None:
            plans = (entry for entry in itertools.islice(entries, PLAN_WITHIN) if is_checklist(entry))
            newest = next(plans, None)
            return parse_checklist(self._memory.passage(newest).text) if newest else None

        return await self._read(read)

    async def _read(self, read: Callable[[Iterator[Entry]], T], before: int | None = None) -> T:
        """Runs `read` in a thread on the branch's entries, newest first, from the leaf or before a seq."""
        stored = self._memory.conversations

        def run() -> T:
            if (conversation := self.standing()) is None:
                return read(iter(()))
            start = conversation.leaf if before is None else stored.entry(before).parent
            return read(iter(()) if start is None else stored.path(start))

        return await asyncio.to_thread(run)

    def opened(self) -> Conversation:
        """The conversation that is open. Raises TemporaryFailure before its first message."""
        if self.conversation is None:
            raise TemporaryFailure(
                "No conversation yet", "A conversation starts with your first message.", "Send a message first."
            )
        return self.conversation

    async def reload(self, conversation: Conversation) -> Conversation:
        """The conversation as the store has it now."""
        self.conversation = await asyncio.to_thread(self._memory.conversations.at, conversation.seq)
        return self.conversation
