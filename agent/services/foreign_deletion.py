"""Deletes what another device deleted or forgot, with all that belongs to it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.records import Conversation


class ForeignDeletions:
    """For the sync of a workspace; what it needs is loaded by the first deletion."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def delete(self, conversation: Conversation) -> object:
        """Deletes a conversation. Raises StoreBusy while an answer is written in it; NotForgottenYet."""
        from agent.services.conversation_deletion import delete_conversation

        return delete_conversation(self._memory, conversation, None)  # the sync that runs writes there

    def tokens(self) -> frozenset[str]:
        """The tokens of all entries that are forgotten here."""
        return self._memory.conversations.tombstones.tokens()

    def present(self, tokens: Collection[str]) -> dict[str, int]:
        """Those of the tokens that would take something here, each with the seq of its conversation."""
        from memory.forget.foreign import present

        return present(self._memory, tokens)

    def forget(self, tokens: Collection[str], forgotten_ms: int) -> object:
        """Keeps the tokens, and forgets those of their entries that are here. Raises what stops a step."""
        from agent.services.forget import forgetting
        from memory.forget.foreign import ForeignTombstones

        return ForeignTombstones(self._memory, forgetting(self._memory)).forget(tokens, forgotten_ms)
