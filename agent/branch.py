"""The open branch of a session: what was said on it, newest first."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from typing import TypeVar

from context.checklist import Checklist, is_checklist, parse_checklist
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryKind
from models.messages import Role

PLAN_WITHIN = 2_000  # entries in which the plan is looked for

T = TypeVar("T")


class OpenBranch:
    """Reads the branch of the conversation that is open. The asynchronous methods read the store in a thread."""

    def __init__(self, memory: Memory, conversation: Callable[[], Conversation | None]) -> None:
        self._memory = memory
        self._conversation = conversation

    @property
    def conversation(self) -> Conversation | None:
        """The conversation that is open; None before its first message."""
        return self._conversation()

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

    def in_view(self) -> frozenset[int]:
        """The entries (seqs) of the branch, which each request tells. Blocks."""
        conversation = self.conversation
        if conversation is None or conversation.leaf is None:
            return frozenset()
        leaf = self._memory.conversations.at(conversation.seq).leaf
        branch = self._memory.conversations.branch(leaf) if leaf else None
        return frozenset(entry.seq for entry in branch.entries) if branch else frozenset()

    async def _read(self, read: Callable[[Iterator[Entry]], T], before: int | None = None) -> T:
        """Runs `read` in a thread on the branch's entries, newest first, from the leaf or before a seq."""
        conversation, stored = self.conversation, self._memory.conversations

        def run() -> T:
            if conversation is None:
                return read(iter(()))
            start = stored.at(conversation.seq).leaf if before is None else stored.entry(before).parent
            return read(iter(()) if start is None else stored.path(start))

        return await asyncio.to_thread(run)
