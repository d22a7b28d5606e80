"""The request that a message would make now, before it is sent."""

import itertools
from collections.abc import Callable
from typing import Final, Protocol

from agent.turn.large_texts import LargeTexts, archives_of
from agent.turn.ports import TurnInput
from context import AssembledRequest, Turn
from foundation.clock import Clock
from memory.memory import Memory
from memory.records import Conversation

MAX_EARLIER: Final = 200  # entries in which an archive of the same attachment is looked for


class Assemble(Protocol):
    """Assembles the request of a turn (agent.session)."""

    def __call__(self, turn: Turn, *, recall: bool = True) -> AssembledRequest: ...


class MessagePreviews:
    """Previews of messages to the conversation that is open. All methods block and store nothing."""

    def __init__(
        self, memory: Memory, clock: Clock, assemble: Assemble, conversation: Callable[[], Conversation | None]
    ) -> None:
        """`conversation` gives the one that is open, as the store has it now."""
        self._memory = memory
        self._assemble = assemble
        self._conversation = conversation
        self.large_texts = LargeTexts(self._request, memory, clock, self._archives)

    def request(self, message: TurnInput, *, recall: bool = True) -> AssembledRequest:
        """The request that this message would make now, with what it recalls."""
        if message.may_be_large:
            message, _ = self.large_texts.fold(message)
        return self._request(message, recall=recall)

    def _request(self, message: TurnInput, *, recall: bool = False) -> AssembledRequest:
        conversation = self._conversation()
        turn = Turn(
            conversation=conversation,
            leaf=conversation.leaf if conversation else None,
            text=message.text,
            attachments=message.attachments,
            skill=message.skill,
        )
        return self._assemble(turn, recall=recall)

    def _archives(self) -> frozenset[str]:
        """The conversations (ids) that hold archived attachments of this one's last messages."""
        conversation = self._conversation()
        if conversation is None or conversation.leaf is None:
            return frozenset()
        entries = itertools.islice(self._memory.conversations.path(conversation.leaf), MAX_EARLIER)
        return frozenset(id_ for entry in entries for id_ in archives_of(entry))
