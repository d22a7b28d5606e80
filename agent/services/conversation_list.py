"""Rows of the list of conversations: by day, by title, by what was said; and the preview of one. Everything blocks."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services.conversation_tree import PRUNED, TURN_LABEL
from memory.errors import MemoryFailure, NotFound
from memory.records import ONE_SHOT, Conversation, Entry, EntryKind
from memory.scope import ALL, SCOPE, scope_of
from memory.search import Query

if TYPE_CHECKING:
    from memory.memory import Memory

CHAT_KIND: Final = "chat"
MAX_TITLED: Final = 200  # conversations that are listed by their title
MAX_HITS: Final = 40  # search hits read; several may be of one conversation
FIRST_ENTRIES: Final = 2  # of a conversation's beginning, in its preview
LAST_ENTRIES: Final = 6  # of its end
AROUND: Final = 2  # entries before and after a passage
MAX_CHARS: Final = 1_500  # of an entry in a preview
_SHOWN: Final = frozenset({EntryKind.MESSAGE, EntryKind.SUMMARY, EntryKind.TOOL_CALL, EntryKind.TOOL_RESULT})


class ListedConversation(Struct, frozen=True):
    """A conversation of the list. Found by what was said in it, it has the entry (its seq) and the passage."""

    conversation: Conversation
    entry: int | None = None
    passage: str = ""

    @property
    def about(self) -> tuple[str, ...]:
        """Where it belongs: the import that it came with, its scope, its labels."""
        internal = (SCOPE, TURN_LABEL, PRUNED, ONE_SHOT)
        labels = [f"[{label}]" for label in self.conversation.labels if not label.startswith(internal)]
        one_shot = ["-p"] if ONE_SHOT in self.conversation.labels else []
        return tuple(filter(None, (self.conversation.source, scope_of(self.conversation), *one_shot, *labels)))


class PreviewTurn(Struct, frozen=True):
    """An entry in a preview; its text is cut. `is_gap`: entries before it are left out."""

    who: str
    time: datetime
    text: str
    is_gap: bool = False
    is_match: bool = False


def by_title(memory: "Memory", query: str) -> list[ListedConversation]:
    """The conversations whose title holds every word, newest first."""
    return [ListedConversation(found) for found in memory.conversations.titled(query.split(), MAX_TITLED)]


def by_text(memory: "Memory", query: str) -> list[ListedConversation]:
    """The conversations in which something like the query was said, best first, each with its best passage."""
    found: dict[str, ListedConversation] = {}
    for hit in memory.search.query(Query(text=query, limit=MAX_HITS, scope=ALL)).hits:
        if hit.entry is None or hit.conversation in found:
            continue
        conversation = _conversation(memory, hit.entry)
        if conversation is not None and conversation.kind == CHAT_KIND:
            found[hit.conversation] = ListedConversation(conversation, hit.entry, hit.snippet)
    return list(found.values())


def matching(memory: "Memory", query: str) -> list[ListedConversation]:
    """By title, then by text, each conversation once."""
    titled = by_title(memory, query)
    known = {listed.conversation.seq for listed in titled}
    return [*titled, *(listed for listed in by_text(memory, query) if listed.conversation.seq not in known)]


def preview(memory: "Memory", listed: ListedConversation) -> list[PreviewTurn]:
    """The passage that matched with what is around it, or the beginning and the end of the conversation."""
    stored, conversation = memory.conversations, listed.conversation
    try:
        if listed.entry is not None:
            return _turns(memory, stored.neighbours(listed.entry, AROUND, AROUND), match=listed.entry)
        first = stored.first_entries(conversation.seq, FIRST_ENTRIES)
        last = [] if conversation.leaf is None else stored.neighbours(conversation.leaf, LAST_ENTRIES - 1, 0)
    except NotFound:  # deleted meanwhile
        return []
    return _turns(memory, [*first, *(entry for entry in last if entry.seq > first[-1].seq)] if first else [])


def turn_preview(memory: "Memory", first: int) -> list[PreviewTurn]:
    """A turn (the seq of its first entry): its message and what answered it, along the newest branch."""
    try:
        entries = memory.conversations.neighbours(first, 0, LAST_ENTRIES)
    except NotFound:
        return []
    following = [number for number, entry in enumerate(entries) if number and entry.role == "user"]
    return _turns(memory, entries[: following[0]] if following else entries)


def _turns(memory: "Memory", entries: Sequence[Entry], match: int = 0) -> list[PreviewTurn]:
    turns: list[PreviewTurn] = []
    above: Entry | None = None
    for entry in entries:
        if entry.kind in _SHOWN and (text := _text(memory, entry)):
            is_gap = above is not None and entry.parent != above.seq
            turns.append(PreviewTurn(entry.said_by, entry.time, text, is_gap, entry.seq == match))
        above = entry
    return turns


def _text(memory: "Memory", entry: Entry) -> str:
    try:
        text = memory.passage(entry).text.strip()
    except MemoryFailure as error:
        return f"[lost: {error.message}]"
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS].rstrip()} …"


def _conversation(memory: "Memory", entry: int) -> Conversation | None:
    try:
        return memory.conversations.at(memory.conversations.entry(entry).conversation_seq)
    except NotFound:  # deleted since it was indexed
        return None
