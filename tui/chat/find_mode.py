"""Finds a text in the open conversation, as one types: the stored entries, and what this session has said since.

Matches are numbered by whole numbers: those of stored entries are below 0, the newest is -1, and those of the session's
own items are 0 and above. So a number stays while older entries are still read and while an answer grows.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agent.services.find import BranchFinder, EntryHits
from foundation.errors import PalimpsestError
from foundation.terminal_text import visible_line
from foundation.text.find import TextFinder
from tui.chat.find_origin import FindOrigin
from tui.chat.find_target import FoundMatch, count_in, find_match
from tui.internal_errors import in_thread
from tui.widgets.find_bar import FindBar
from tui.widgets.status import clip
from tui.widgets.transcript.items import TranscriptItem
from tui.widgets.transcript.view import Transcript

if TYPE_CHECKING:
    from tui.chat.controller import ChatController

PAUSE_S: Final = 0.1  # seconds without a key before a search starts
NAME_CELLS: Final = 24


class FindMode:
    """Has the keys from `open` until `leave`."""

    def __init__(self, transcript: Transcript, bar: FindBar, controller: "Callable[[], ChatController | None]") -> None:
        self._transcript = transcript
        self._bar = bar
        self._controller = controller
        self._finder = TextFinder("")
        self._branch: BranchFinder | None = None
        self._leaf: tuple[int | None, int | None] = None, None  # of that branch, and its last entry
        self._stored: list[EntryHits] = []  # newest first
        self._own: list[int] = []  # matches in each of the session's own items
        self._own_items: list[TranscriptItem] = []
        self._is_complete = True
        self._current: int | None = None
        self._found: FoundMatch | None = None  # the current one; its item is opened
        self._going = asyncio.Lock()
        self._origin = FindOrigin.of(transcript, None)

    @property
    def is_on(self) -> bool:
        return self._bar.display

    def open(self) -> None:
        controller = self._controller()
        self._origin = FindOrigin.of(self._transcript, controller)
        self._current, self._branch = None, None

    async def search(self, query: str) -> None:
        """Finds the text, and goes to the first match at or below the top of what was visible."""
        controller = self._controller()
        if controller is None or not self.is_on:
            return
        await asyncio.sleep(PAUSE_S)
        self._finder, self._current, self._is_complete = TextFinder(query), None, False
        self._stored, self._own = [], []
        self._fold(None)
        self._transcript.mark_matches(self._finder if self._finder.words else None)
        if not self._finder.words:
            self._bar.show_count("")
            self._origin.show(self._transcript)
            return
        await self._count_own(controller)
        try:
            await self._count_stored(controller)
        except PalimpsestError as error:
            self._bar.show_count(visible_line(error.message))
            return
        self._is_complete = True
        if self._current is None and self._total:
            await self._go(-1 if self._stored else sum(self._own) - 1)
        self._show_count()

    async def _count_stored(self, controller: "ChatController") -> None:
        """Counts the matches of stored entries, newest first, and goes to the first one to show when it is known."""
        last = controller.history.own_after
        if last == 0:
            return
        leaf = await in_thread(controller.history.leaf)
        if leaf is None:
            return
        if self._branch is None or self._leaf != (leaf, last):
            self._branch, self._leaf = BranchFinder(controller.session.memory, leaf, last), (leaf, last)
        batches, finder = self._branch.hits(self._finder), self._finder
        while (batch := await in_thread(next, batches, None)) is not None and finder is self._finder:
            down_to, hits = batch
            self._stored += hits
            if self._current is None and self._total and down_to <= self._origin.seq:
                await self._go(self._first_match())
            self._show_count()

    async def _count_own(self, controller: "ChatController") -> None:
        items, finder = controller.history.own_items(), self._finder
        counts = await in_thread(lambda: [count_in(item, finder) for item in items])
        if finder is self._finder:
            self._own_items, self._own = items, counts

    async def refresh(self) -> None:
        """Counts what came since: called while the bar is open."""
        controller = self._controller()
        if controller is None or not self.is_on or not self._finder.words or not self._is_complete:
            return
        items = controller.history.own_items()
        if len(items) != len(self._own_items) or any(a is not b for a, b in zip(items, self._own_items, strict=True)):
            await self._count_own(controller)
            self._show_count()

    # Going

    async def step(self, by: int) -> None:
        """Goes to the next match, or the one before, around the ends."""
        if not self._total:
            return
        oldest, newest = -self._stored_count, sum(self._own) - 1
        at = self._first_match() if self._current is None else self._current + by
        await self._go(oldest if at > newest else newest if at < oldest else at)

    async def leave(self, *, stays: bool) -> None:
        """Closes the bar; goes back to where one was unless one `stays`."""
        self._finder = TextFinder("")
        self._transcript.mark_matches(None)
        if not stays:
            self._fold(None)
            await self._origin.return_to(self._transcript, self._controller())
        self._found = None

    async def _go(self, number: int) -> None:
        controller = self._controller()
        if controller is None:
            return
        async with self._going:
            self._current, finder = number, self._finder
            if number >= 0:
                index, nth = _locate(self._own, number)
                items = controller.history.own_items()[index : index + 1]
            else:
                index, from_end = _locate([count for _, count in self._stored], -number - 1)
                seq, count = self._stored[index]
                nth = count - 1 - from_end
                if not controller.history.loaded_items(seq):
                    await self._load(controller, seq)
                items = controller.history.loaded_items(seq)
            found = await in_thread(find_match, items, finder, nth)
            if found is None or finder is not self._finder:
                self._show_count()
                return
            self._fold(found)
            self._transcript.show_match(found.shown, found.number)
            self._found = found
            self._show_count()

    async def _load(self, controller: "ChatController", seq: int) -> None:
        """Loads an entry that is far away. What the session said is among the stored entries where it left the
        transcript.
        """
        history = controller.history
        after = history.own_after
        await history.show_match(seq)
        if after is None or history.own_after is not None:
            return
        leaf = await in_thread(history.leaf)
        if leaf is None or self._current is None:
            return
        newer = BranchFinder(controller.session.memory, leaf, above=after)
        hits = await in_thread(lambda: [hit for _, found in newer.hits(self._finder) for hit in found])
        self._stored[:0] = hits
        self._own, self._own_items, self._branch = [], [], None
        self._current -= sum(count for _, count in hits)

    def _fold(self, found: FoundMatch | None) -> None:
        """Folds what was opened for the last match, and opens what the next one is in."""
        last, self._found = self._found, None
        if last is not None and last.shown is not last.item and (found is None or found.item is not last.shown):
            self._transcript.replace_item(last.shown, [last.item])
        if found is not None and found.shown != found.item:
            self._transcript.is_following = False
            self._transcript.replace_item(found.item, [found.shown])

    # Numbers

    @property
    def _stored_count(self) -> int:
        return sum(count for _, count in self._stored)

    @property
    def _total(self) -> int:
        return self._stored_count + sum(self._own)

    def _first_match(self) -> int:
        """The first match at or below the top of what was visible, or else the last one above."""
        if self._origin.own_index is not None:
            above = sum(self._own[: self._origin.own_index])
            return min(above, sum(self._own) - 1) if self._own and sum(self._own) else -1
        visible = sum(count for seq, count in self._stored if seq >= self._origin.seq)
        if visible:
            return -visible
        return 0 if sum(self._own) else -1

    def _show_count(self) -> None:
        if not self.is_on or not self._finder.words:
            return
        total, more = self._total, "" if self._is_complete else " …"
        if not total:
            self._bar.show_count(f"not found{more}" if self._is_complete else "…")
            return
        number = "" if self._current is None else f"{self._current + self._stored_count + 1:,} of "
        inside = self._found.inside if self._found else ""
        where = f"in {clip(visible_line(inside), NAME_CELLS)} · " if inside else ""
        self._bar.show_count(f"{where}{number}{total:,}{more}")


def _locate(counts: list[int], number: int) -> tuple[int, int]:
    """The index of the count that a number falls into, and the rest in it."""
    for index, count in enumerate(counts):
        if number < count:
            return index, number
        number -= count
    return len(counts) - 1, max(counts[-1] - 1, 0) if counts else 0
