"""Chooses slots of a llama.cpp server, so that conversations in turn keep what the server has read of each.

The server puts a request into the slot that begins most like it. A new conversation takes the slot with the same head,
which is right if the conversation there is over. One that comes back gets a slot of its own.
"""

from collections import OrderedDict
from typing import Final

SHARED: Final = 4
"""The slots of a server that was not told how many. They share one cache: what is idle is moved to memory and found
again, but only by a request that names no slot."""


class ServerSlots:
    """The slots that the conversations of this process keep."""

    def __init__(self) -> None:
        self._count = 1
        self._kept: OrderedDict[str, int] = OrderedDict()  # least recently used first
        self._seen = set[str]()
        self._last = ""  # the newest conversation without a slot of its own
        self._read = set[str]()  # conversations that were read into the slot that they keep

    def use(self, count: int) -> None:
        """Begins with a server of so many slots."""
        self._count = 1 if count == SHARED else count

    def slot(self, conversation: str) -> int | None:
        """The slot for the conversation's next request; None if the server chooses."""
        if self._count < 2 or not conversation:
            return None
        if conversation not in self._kept and conversation in self._seen and conversation != self._last:
            self._keep(conversation)
        if conversation in self._kept:
            self._kept.move_to_end(conversation)
            return self._kept[conversation]
        self._seen.add(conversation)
        self._last = conversation
        return self._count - 1 if self._kept else None  # where the server puts the first conversation

    def learn(self, conversation: str, cached: int | None) -> None:
        """Takes in how much of a prompt the server had. A server that empties its slots gets no choice any more."""
        if conversation not in self._kept or cached is None:
            return
        if conversation in self._read and not cached:
            self._count = 1
        self._read.add(conversation)

    def _keep(self, conversation: str) -> None:
        free = (slot for slot in range(self._count - 1) if slot not in self._kept.values())
        slot = next(free, None)
        if slot is None:
            left, slot = self._kept.popitem(last=False)
            self._read.discard(left)
        self._kept[conversation] = slot
