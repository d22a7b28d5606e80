"""Conversations by what was said in them."""

from typing import TYPE_CHECKING, Final

from foundation.clock import iso
from memory.cold import Conversation
from memory.errors import NotFound
from memory.search import Query
from tui.screens.choices import Pick

if TYPE_CHECKING:
    from memory.memory import Memory

PASSAGES: Final = 40  # looked at; several may stand in one conversation


def conversations_with(memory: "Memory", text: str) -> list[Pick]:
    """The conversations that hold it, best first, each with the passage. Blocks."""
    found: dict[str, Pick] = {}
    for hit in memory.search.query(Query(text=text, limit=PASSAGES)).hits:
        if hit.entry is None or hit.conversation in found:
            continue
        conversation = _conversation(memory, hit.entry)
        if conversation is not None and conversation.kind == "chat":
            day = iso(conversation.updated)[:10]
            label = conversation.title or "(untitled)"
            found[hit.conversation] = Pick(conversation.id, label, f"{day} · {hit.snippet}")
    return list(found.values())


def _conversation(memory: "Memory", entry: int) -> Conversation | None:
    try:
        return memory.cold.conversation_at(memory.cold.entry(entry).conversation_seq)
    except NotFound:  # forgotten since it was indexed
        return None
