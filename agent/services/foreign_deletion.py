"""Deletes conversations that another device deleted, with all that belongs to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.records import Conversation


def foreign_deletion(memory: Memory) -> Callable[[Conversation], object]:
    """For the background sync of a session; what it needs is loaded by the first deletion."""

    def delete(conversation: Conversation) -> object:
        from agent.services.conversation_deletion import delete_conversation

        return delete_conversation(memory, conversation)

    return delete
