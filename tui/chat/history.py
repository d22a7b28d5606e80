"""Loads stored entries into the transcript: the newest, or those around an entry; more on scrolling."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from foundation.clock import iso
from memory.errors import Damaged, NotFound
from memory.pages.types import EntryText
from memory.records import UNDOES, Conversation, Entry, EntryKind
from memory.scope import ALL
from memory.search import Query
from models.messages import Image, RecalledSpan, Role, ToolCall
from tui.chat.blocks import (
    StoredTexts,
    attachment_blocks,
    call_block,
    pasted_blocks,
    recalled_items,
    receipt_block,
    stored_reasoning,
    without_pastes,
)
from tui.chat.tool_result import interrupted_lines, stored_lines
from tui.dialogs.choices import ChoiceItem
from tui.widgets.transcript.items import MutedLine, TranscriptItem, UserItem, markdown_items
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.services.locate import EntryLocation
    from agent.session import Session
    from memory.memory import Memory
    from memory.records import Entry

OFFLINE: Final = "offline"  # the speaker of answers that quote what was recalled
ARCHIVED_TURNS: Final = "older turns are in the archive; a summary stands in their place"
MAX_HITS: Final = 40  # search hits read for a list of conversations; several may be of one conversation

Pictures = Callable[[Sequence[Image]], list[TranscriptItem]]
"""Gives the previews of a message's pictures."""


class EntryReader(Struct, frozen=True):
    """What turns stored entries into items. `texts` are behind the blocks; `interrupted` gives the calls of an answer
    that have no result."""

    passage: Callable[[Entry], EntryText]
    texts: StoredTexts
    pictures: Pictures = lambda _: []
    interrupted: Callable[[Entry], Sequence[ToolCall]] = lambda _: ()


def items_of(entries: Sequence[Entry], reader: EntryReader, following: Entry | None = None) -> list[TranscriptItem]:
    """The transcript items of the entries, oldest first; `following` is the entry after them.

    Blocks: reads archived text from its pages.
    """
    items: list[TranscriptItem] = []
    for entry, after in pairwise([*entries, following]):
        assert entry is not None
        items += _entry_items(entry, reader, after)
        for call in reader.interrupted(entry):
            items.append(call_block(call.id, interrupted_lines(call), None))
    return items


def _entry_items(entry: Entry, reader: EntryReader, after: Entry | None) -> list[TranscriptItem]:
    find = reader.texts.by_seq(entry.seq)
    match entry.kind, entry.role:
        case EntryKind.SUMMARY, _:
            if UNDOES in entry.meta:
                return [MutedLine("the compaction was undone: its turns are in view again", gap=True)]
            return [receipt_block(entry.id, ARCHIVED_TURNS, reader.texts.whole(find))]
        case EntryKind.MESSAGE, Role.USER:
            images = [part for part in entry.sent if isinstance(part, Image)]
            text, pastes = without_pastes(entry, _text(entry, reader.passage))
            recalled = [part for part in entry.sent if isinstance(part, RecalledSpan)]
            quotes = after is not None and after.speaker == OFFLINE
            return [
                UserItem(text, entry=entry.id),
                *pasted_blocks(entry, pastes, reader.texts),
                *attachment_blocks(entry, reader.texts),
                *reader.pictures(images),
                *([] if quotes else recalled_items(recalled)),
            ]
        case EntryKind.MESSAGE, _:
            reasoning = stored_reasoning(entry, reader.texts)
            answer = [*reasoning, *markdown_items(_text(entry, reader.passage))]
            return answer if entry.complete else [*answer, MutedLine("the answer broke off here", gap=True)]
        case ((EntryKind.TOOL_CALL | EntryKind.TOOL_RESULT), _):
            name, failed = str(entry.meta.get("name", "tool")), bool(entry.meta.get("failed"))
            shown, summary = str(entry.meta.get("shown", "")) or entry.text or "", str(entry.meta.get("summary", ""))
            rows = stored_lines(name, summary, shown, entry.chars, failed=failed)
            key = str(entry.meta.get("call_id", "")) or entry.id
            return [call_block(key, rows, reader.texts.result(find))] if rows else []
        case _:
            return []


def _text(entry: Entry, passage: Callable[[Entry], EntryText]) -> str:
    """The entry's text; a placeholder for text on a damaged page."""
    try:
        return passage(entry).text
    except Damaged as error:
        return f"[lost: {error.message}]"


PAGE_SIZE: Final = 20  # entries shown when a conversation is opened, and loaded on each scroll to the top
ENTRIES_ABOVE: Final = 10  # entries shown above an entry that was searched for
OFF_BRANCH_NOTICE: Final = (
    "This stands on another branch; what you write goes on from the conversation's newest. Ctrl+End goes there."
)


class HistoryView:
    """The window of entries that the transcript shows. A later call cancels one that is still loading."""

    def __init__(self, session: "Session", transcript: Transcript, pictures: Pictures) -> None:
        self._session = session
        self._transcript = transcript
        self._pictures = pictures
        self._oldest: int | None = None  # seq of the first entry shown; None if there is none before it
        self._below: deque[int] = deque()  # seqs of the entries after the last one shown
        self._is_off_branch = False  # whether the entries shown are on another branch than the newest one
        self._generation = 0  # number of windows shown; a load of an earlier one is dropped

    @property
    def has_more_below(self) -> bool:
        """Whether the transcript ends before the conversation does."""
        return self._is_off_branch or bool(self._below)

    async def load_newest(self) -> None:
        """Loads the newest entries, above the present items."""
        self._start_generation()
        await self._load_above(None)

    async def load_earlier(self) -> None:
        """Loads the entries before those shown, if any."""
        if self._oldest is not None:
            await self._load_above(self._oldest)

    async def load_later(self) -> None:
        """Loads the entries after those shown, if any."""
        if not self._below:
            return
        generation, below = self._generation, self._below
        self._below = deque()  # one load at a time
        items = await self._items_at([below.popleft() for _ in range(min(PAGE_SIZE, len(below)))])
        if generation == self._generation:
            self._below = below
            self._transcript.append_newer(items, has_more=self.has_more_below)

    async def show_around(self, location: "EntryLocation", query: str) -> None:
        """Shows an entry with its neighbours, in place of the present items."""
        generation = self._start_generation()
        seqs_below = deque(location.below)
        above = await self._session.branch.history(ENTRIES_ABOVE, location.entry.seq)
        before = await self._entry_items(above)
        marker: TranscriptItem = MutedLine(f"▸ found here: {query}" if query else "▸ found here", tone="good", gap=True)
        shown = await self._entry_items([location.entry]) or [
            MutedLine(await asyncio.to_thread(self._text, location.entry))
        ]
        after = await self._items_at([seqs_below.popleft() for _ in range(min(PAGE_SIZE, len(seqs_below)))])
        if generation != self._generation:
            return
        self._oldest = above[0].seq if len(above) == ENTRIES_ABOVE else None
        self._below, self._is_off_branch = seqs_below, location.off_branch
        notice: list[TranscriptItem] = (
            [MutedLine(OFF_BRANCH_NOTICE, tone="warning", gap=True)] if location.off_branch else []
        )
        self._transcript.replace_items([*before, *notice, marker, *shown, *after])
        self._transcript.scroll_to_item(marker, has_more=self.has_more_below)

    def _start_generation(self) -> int:
        self._generation += 1
        self._oldest, self._below, self._is_off_branch = None, deque(), False
        return self._generation

    async def _load_above(self, before: int | None) -> None:
        generation = self._generation
        self._oldest = None  # one load at a time
        entries = await self._session.branch.history(PAGE_SIZE, before)
        following: Entry | None = None
        for entry in reversed(entries):  # the newest is shown first
            items = await self._entry_items([entry], following)
            following = entry
            if generation != self._generation:
                return
            self._transcript.insert_older(items)
        if len(entries) == PAGE_SIZE and generation == self._generation:
            self._oldest = entries[0].seq

    async def _items_at(self, seqs: Sequence[int]) -> list[TranscriptItem]:
        entries = await asyncio.to_thread(self._session.memory.conversations.entries, seqs)
        return await self._entry_items([entries[seq] for seq in seqs if seq in entries])

    async def _entry_items(self, entries: "Sequence[Entry]", following: "Entry | None" = None) -> list[TranscriptItem]:
        memory = self._session.memory
        reader = EntryReader(
            memory.passage, StoredTexts(memory), self._pictures, memory.conversations.interrupted_calls
        )
        return await asyncio.to_thread(items_of, entries, reader, following)

    def _text(self, entry: "Entry") -> str:
        return self._session.memory.passage(entry).text


def find_conversations(memory: "Memory", text: str) -> list[ChoiceItem]:
    """The conversations that contain the text, best first, each with a passage. Blocks."""
    choices: dict[str, ChoiceItem] = {}
    for hit in memory.search.query(Query(text=text, limit=MAX_HITS, scope=ALL)).hits:
        if hit.entry is None or hit.conversation in choices:
            continue
        conversation = _conversation(memory, hit.entry)
        if conversation is not None and conversation.kind == "chat":
            day = iso(conversation.updated)[:10]
            label = conversation.title or "(untitled)"
            choices[hit.conversation] = ChoiceItem(conversation.id, label, f"{day} · {hit.snippet}")
    return list(choices.values())


def _conversation(memory: "Memory", entry: int) -> Conversation | None:
    try:
        return memory.conversations.at(memory.conversations.entry(entry).conversation_seq)
    except NotFound:  # deleted since it was indexed
        return None
