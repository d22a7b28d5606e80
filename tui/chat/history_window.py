"""The window of stored entries that the transcript shows: more at one end on scrolling, and as many less at the other.

However long the conversation is, at most MAX_SHOWN of its entries are loaded.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services.locate import locate_entry
from tui.chat.blocks import StoredTexts
from tui.chat.history import EntryReader, Pictures, items_of
from tui.widgets.transcript.block import Block, find_block
from tui.widgets.transcript.items import MutedLine, TranscriptItem, UserItem
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from agent.services.locate import EntryLocation
    from agent.session import Session
    from memory.records import Entry

PAGE_SIZE: Final = 20  # entries shown when a conversation is opened, and loaded on each scroll to an end
MAX_SHOWN: Final = 200  # entries; more are dropped at the far end, down to the half
MAX_ITEMS: Final = 1_000  # items of the transcript between two turns; more are dropped above, down to the half
ENTRIES_ABOVE: Final = 10  # entries shown above an entry that was searched for
GAP_NOTICE: Final = "… the messages in between are not shown while the answer is written. Ctrl+End shows the newest."
OFF_BRANCH_NOTICE: Final = (
    "This is on another branch. Your next message continues from the newest one. Ctrl+End goes there."
)


class ShownEntry(Struct, frozen=True):
    """An entry in the transcript. A block that was opened since is another item."""

    seq: int
    items: tuple[TranscriptItem, ...]


class HistoryWindow:
    """Loads entries into the transcript. A later call cancels one that is still loading."""

    def __init__(
        self, session: "Session", transcript: Transcript, pictures: Pictures, is_busy: Callable[[], bool]
    ) -> None:
        """While `is_busy` the end of the transcript is kept, because the turn writes there."""
        self._session = session
        self._transcript = transcript
        self._pictures = pictures
        self.is_busy = is_busy
        self._shown: deque[ShownEntry] = deque()  # those loaded; a turn's own items follow them
        self._has_more_above = False
        self._below: deque[int] = deque()  # seqs of the entries after the last one shown
        self._is_off_branch = False  # whether the entries shown are on another branch than the newest one
        self._generation = 0  # number of windows shown; a load of an earlier one is dropped
        self._gap: MutedLine | None = None  # stands between a part far above and the session's own items
        self.own_after: int | None = 0  # seq of the entry before the session's own items; None where they are stored

    @property
    def has_more_below(self) -> bool:
        """Whether the transcript ends before the conversation does."""
        return self._is_off_branch or bool(self._below) or self._gap is not None

    @property
    def has_gap(self) -> bool:
        """Whether a part far above is shown above the session's own items."""
        return self._gap is not None

    def own_items(self) -> list[TranscriptItem]:
        """The items of this session's turns, which follow those of the loaded entries."""
        return [] if self.own_after is None else [*self._transcript.line_cache.items[self._own_start() :]]

    def loaded_items(self, seq: int) -> list[TranscriptItem]:
        """The items of a loaded entry as they are in the transcript now; none where it is not loaded."""
        shown = next((shown for shown in self._shown if shown.seq == seq), None)
        present = [self._present(item) for item in shown.items] if shown else []
        return [item for item in present if item is not None]

    def entry_of(self, item: TranscriptItem) -> int | None:
        """The seq of the loaded entry that an item of the transcript is of."""
        return next((shown.seq for shown in self._shown if any(other is item for other in shown.items)), None)

    async def load_newest(self) -> None:
        """Loads the newest entries, above the present items; the newest is shown first."""
        generation = self._start()
        entries = await self._session.branch.history(PAGE_SIZE, None)
        following: Entry | None = None
        for entry in reversed(entries):
            (shown,) = await self._load([entry], following)
            following = entry
            if generation != self._generation:
                return
            self._transcript.insert_older(shown.items)
            self._shown.appendleft(shown)
        self._has_more_above = len(entries) == PAGE_SIZE
        self.own_after = entries[-1].seq if entries else 0

    async def load_earlier(self) -> None:
        """Loads the entries before those shown, if any."""
        if not self._has_more_above:
            return
        generation, first = self._generation, self._shown[0].seq
        entries = await self._session.branch.history(PAGE_SIZE, first)
        loaded = await self._load(entries)
        if generation != self._generation or self._shown[0].seq != first:
            return
        self._transcript.insert_older([item for shown in loaded for item in shown.items])
        self._shown.extendleft(reversed(loaded))
        self._has_more_above = len(entries) == PAGE_SIZE
        if len(self._shown) > MAX_SHOWN and not self.is_busy():
            await self._drop_newest()

    async def load_later(self) -> None:
        """Loads the entries after those shown, if any."""
        if not self._below:
            return
        generation, seqs = self._generation, [*self._below][:PAGE_SIZE]
        loaded = await self._load_seqs(seqs)
        if generation != self._generation or self._below[0] != seqs[0]:
            return
        for _ in seqs:
            self._below.popleft()
        self._shown.extend(loaded)
        items = [item for shown in loaded for item in shown.items]
        self._transcript.append_newer(items, has_more=self.has_more_below)
        if len(self._shown) > MAX_SHOWN:
            self._drop_oldest()

    async def trim(self) -> None:
        """Drops what a long session left above; it is loaded again on scrolling up. Called between turns."""
        items = self._transcript.line_cache.items
        if len(items) <= MAX_ITEMS or not self._transcript.is_following:
            return
        first = next((item for item in items[-MAX_ITEMS // 2 :] if isinstance(item, UserItem) and item.entry), None)
        if first is None:
            return
        generation = self._generation
        entry = await asyncio.to_thread(self._session.memory.conversations.find_entry, first.entry)
        if generation == self._generation and self._is_in_transcript([first]):
            self._shown, self._has_more_above = deque([ShownEntry(entry.seq, (first,))]), True
            self.own_after = entry.parent or 0
            self._transcript.drop_before(first)

    async def show_oldest(self) -> None:
        """Shows the first entries of the conversation; during a turn, the first ones that are loaded."""
        if self._has_more_above and not self.is_busy():
            generation = self._start()
            seqs = await asyncio.to_thread(self._branch_seqs)
            loaded = await self._load_seqs(seqs[: 2 * PAGE_SIZE])
            if generation != self._generation:
                return
            self._shown, self._below = deque(loaded), deque(seqs[2 * PAGE_SIZE :])
            self._transcript.replace_items([item for shown in loaded for item in shown.items])
            self._transcript.append_newer((), has_more=self.has_more_below)
        self._transcript.scroll_to(y=0, animate=False)

    async def show_match(self, seq: int) -> None:
        """Shows an entry of the branch with its neighbours; during a turn, above the items of the session."""
        location = await asyncio.to_thread(locate_entry, self._session.memory, seq)
        if not self.is_busy():
            await self.show_around(location, "", is_marked=False)
            return
        above = await self._session.branch.history(ENTRIES_ABOVE, seq)
        below = [entry for entry in location.below if entry <= (self.own_after or 0)]
        await self._show_above_own([*above, location.entry], below[:PAGE_SIZE], is_whole=len(below) <= PAGE_SIZE)

    async def close_gap(self) -> None:
        """Shows the entries before the session's own items again, in place of a part far above."""
        last = self.own_after
        if self._gap is None or last is None:
            return
        entries = await self._session.branch.history(PAGE_SIZE - 1, last) if last else []
        await self._show_above_own(entries, [last] if last else [], is_whole=True)

    async def _show_above_own(self, above: "Sequence[Entry]", below: Sequence[int], *, is_whole: bool) -> None:
        """Shows these entries above the session's own items, in place of all others; `is_whole`: with nothing left out
        between."""
        generation = self._generation
        loaded = [*await self._load(above), *await self._load_seqs(below)]
        if generation != self._generation:
            return
        own = self.own_items()
        self._gap = None if is_whole else MutedLine(GAP_NOTICE, tone="warning", gap=True)
        if own:
            self._transcript.drop_before(own[0])
        else:
            self._transcript.clear()
        gap: list[TranscriptItem] = [self._gap] if self._gap else []
        self._transcript.insert_older([*(item for shown in loaded for item in shown.items), *gap])
        self._shown, self._has_more_above = deque(loaded), len(above) >= ENTRIES_ABOVE

    async def show_around(
        self, location: "EntryLocation", query: str, *, is_marked: bool = True, way_back: str = ""
    ) -> None:
        """Shows an entry with its neighbours, in place of the present items. `is_marked`: a line says that it was
        found; `way_back`: a sentence below it.
        """
        generation = self._start()
        seqs_below = deque(location.below)
        above = await self._session.branch.history(ENTRIES_ABOVE, location.entry.seq)
        before = await self._load(above)
        marker: TranscriptItem = MutedLine(f"▸ match: {query}" if query else "▸ match", tone="good", gap=True)
        (found,) = await self._load([location.entry])
        shown = found.items or (MutedLine(await asyncio.to_thread(self._text, location.entry)),)
        after = await self._load_seqs([seqs_below.popleft() for _ in range(min(PAGE_SIZE, len(seqs_below)))])
        if generation != self._generation:
            return
        self._shown = deque([*before, ShownEntry(location.entry.seq, shown), *after])
        self._has_more_above = len(above) == ENTRIES_ABOVE
        self._below, self._is_off_branch = seqs_below, location.off_branch
        notice: list[TranscriptItem] = (
            [MutedLine(OFF_BRANCH_NOTICE, tone="warning", gap=True)] if location.off_branch else []
        )
        items_before, items_after = ([item for shown in side for item in shown.items] for side in (before, after))
        marks = [marker, *([MutedLine(way_back)] if way_back else [])] if is_marked else []
        self._transcript.replace_items([*items_before, *notice, *marks, *shown, *items_after])
        self._transcript.scroll_to_item(marker if is_marked else shown[0], has_more=self.has_more_below)

    def _start(self) -> int:
        self._generation += 1
        self._shown, self._below = deque(), deque()
        self._has_more_above = self._is_off_branch = False
        self._gap = self.own_after = None
        return self._generation

    async def _drop_newest(self) -> None:
        """Drops the newest half of what is shown, with all that was added below it."""
        kept = MAX_SHOWN // 2
        while kept > 1 and not self._is_in_transcript(self._shown[kept - 1].items[-1:]):
            kept -= 1
        last = self._shown[kept - 1]
        if not self._below:
            generation = self._generation
            location = await asyncio.to_thread(locate_entry, self._session.memory, last.seq)
            if generation != self._generation or location.off_branch or self.is_busy():
                return
            self._below = deque(location.below)
        else:
            self._below.extendleft(shown.seq for shown in [*self._shown][: kept - 1 : -1])
        self._gap = self.own_after = None
        while len(self._shown) > kept:
            self._shown.pop()
        self._transcript.drop_after(last.items[-1])

    def _drop_oldest(self) -> None:
        """Drops the oldest half of what is shown."""
        while len(self._shown) > MAX_SHOWN // 2 or not self._is_in_transcript(self._shown[0].items[:1]):
            self._shown.popleft()
        self._has_more_above = True
        self._transcript.drop_before(self._shown[0].items[0])

    def _own_start(self) -> int:
        """The index of the first item that follows those of the loaded entries."""
        cache = self._transcript.line_cache
        last = [self._gap] if self._gap else [item for shown in [*self._shown][-3:] for item in shown.items]
        indexes = (cache.index_of(present) for item in last if (present := self._present(item)) is not None)
        return max((index for index in indexes if index is not None), default=-1) + 1

    def _present(self, item: TranscriptItem) -> TranscriptItem | None:
        """The item that stands for this one in the transcript: a block that was opened since is another item."""
        if self._is_in_transcript([item]):
            return item
        items = self._transcript.line_cache.items
        match item:
            case Block(key=key):
                return find_block(items, key)
            case UserItem(entry=entry) if entry:
                return next((other for other in items if isinstance(other, UserItem) and other.entry == entry), None)
            case _:
                return None

    def _is_in_transcript(self, items: Sequence[TranscriptItem]) -> bool:
        return bool(items) and self._transcript.line_cache.index_of(items[0]) is not None

    def leaf(self) -> int | None:
        """The seq of the branch's newest entry; None where there is none. Blocks."""
        conversation = self._session.branch.standing()
        return conversation.leaf if conversation else None

    def _branch_seqs(self) -> list[int]:
        """The seqs of the whole branch, the first one first. Blocks."""
        leaf = self.leaf()
        return [] if leaf is None else [*self._session.memory.conversations.path_seqs(leaf)][::-1]

    async def _load_seqs(self, seqs: Sequence[int]) -> list[ShownEntry]:
        entries = await asyncio.to_thread(self._session.memory.conversations.entries, seqs)
        return await self._load([entries[seq] for seq in seqs if seq in entries])

    async def _load(self, entries: "Sequence[Entry]", following: "Entry | None" = None) -> list[ShownEntry]:
        """The entries with their items; `following` is the entry after them."""
        memory = self._session.memory
        stored, texts = memory.conversations, StoredTexts(memory)
        reader = EntryReader(memory.passage, texts, self._pictures, stored.interrupted_calls, stored.writer_of)

        def read() -> list[ShownEntry]:
            return [
                ShownEntry(entry.seq, tuple(items_of([entry], reader, after)))
                for entry, after in pairwise([*entries, following])
                if entry is not None
            ]

        return await asyncio.to_thread(read)

    def _text(self, entry: "Entry") -> str:
        return self._session.memory.passage(entry).text
