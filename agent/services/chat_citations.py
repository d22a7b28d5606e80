"""Citations of whole conversations: `[Trip planning · 2026-03-14 · chat:c_9k…]`, found by words of the title."""

from typing import TYPE_CHECKING

from msgspec import Struct

from foundation.citations import CHAT, cited_refs
from foundation.clock import iso
from foundation.trust import Citation

if TYPE_CHECKING:
    from memory.memory import Memory

_MORE = 3  # the open conversation, and those of ids that no citation can hold, are left out of what is read


class CitedChat(Struct, frozen=True):
    """A conversation that can be cited. `day` is that of its last message."""

    title: str
    day: str
    citation: str


def citable_chats(memory: "Memory", words: str, most: int, *, without: str = "") -> list[CitedChat]:
    """The newest chats whose titles have all the words; `without` is the id of the open one. Blocks."""
    wanted = words.split()
    conversations = memory.conversations
    found = conversations.titled(wanted, most + _MORE) if wanted else conversations.recent(limit=most + _MORE)
    chats: list[CitedChat] = []
    for conversation in found:
        ref = f"{CHAT}{conversation.id}"
        title = conversation.title or "untitled"
        citation = str(Citation(kind="conversation", ref=ref, title=title, time=conversation.updated))
        if conversation.id != without and cited_refs(citation) == (ref,):
            chats.append(CitedChat(title, iso(conversation.updated)[:10], citation))
    return chats[:most]
