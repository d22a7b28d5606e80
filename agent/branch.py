"""The open branch of a session: what was said on it, newest first."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

from context.checklist import Checklist, is_checklist, parse_checklist
from foundation.errors import Misuse, TemporaryFailure
from foundation.privacy import Cleared
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryKind
from models.messages import Role

PLAN_WITHIN = 2_000  # entries in which the plan is looked for

T = TypeVar("T")


class OpenBranch:
    """Reads and moves the branch of the conversation that is open, in a thread where it is asynchronous."""

    def __init__(self, memory: Memory) -> None:
        self.conversation: Conversation | None = None  # None before its first message
        self._memory = memory

    async def rename(self, title: Cleared) -> Conversation:
        """Gives the conversation another title. Raises TemporaryFailure before its first message."""
        conversation = self.opened()
        await asyncio.to_thread(self._memory.conversations.rename, conversation.seq, title)
        return await self.reload(conversation)

    async def branch_from(self, entry_id: str) -> Entry:
        """Begins a branch at one of the user's messages: the next message replaces it there, the old branch stays.

        Raises NotFound, and Misuse for an entry that is not the user's message.
        """
        conversation = self.opened()
        entry = await asyncio.to_thread(self._move_leaf_before, conversation.seq, entry_id)
        await self.reload(conversation)
        return entry

    def _move_leaf_before(self, conversation: int, entry_id: str) -> Entry:
        entry = self._memory.conversations.find_entry(entry_id, conversation)
        if entry.role is not Role.USER:
            raise Misuse("Not your message", f"{entry_id} was not said by you.", "/branch lists your messages.")
        self._memory.conversations.set_leaf(conversation, entry.parent)
        return entry

    async def recent(self, limit: int) -> list[Conversation]:
        """The conversations used last, newest first."""
        return await asyncio.to_thread(self._memory.conversations.recent, limit=limit)

    async def own_messages(self, limit: int) -> list[tuple[Entry, str]]:
        """The user's last messages on this branch with their texts, newest first."""

        def read(entries: Iterator[Entry]) -> list[tuple[Entry, str]]:
            own = (entry for entry in entries if entry.role is Role.USER and entry.kind is EntryKind.MESSAGE)
            return [(entry, self._memory.passage(entry).text) for entry in itertools.islice(own, limit)]

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
        conversation, stored = self.conversation, self._memory.conversations

        def run() -> T:
            if conversation is None:
                return read(iter(()))
            start = stored.at(conversation.seq).leaf if before is None else stored.entry(before).parent
            return read(iter(()) if start is None else stored.path(start))

        return await asyncio.to_thread(run)

    def opened(self) -> Conversation:
        """The conversation that is open. Raises TemporaryFailure before its first message."""
        if self.conversation is None:
            raise TemporaryFailure("No conversation yet", "It begins with your first message.", "Say something first.")
        return self.conversation

    async def reload(self, conversation: Conversation) -> Conversation:
        """The conversation as the store has it now."""
        self.conversation = await asyncio.to_thread(self._memory.conversations.at, conversation.seq)
        return self.conversation
