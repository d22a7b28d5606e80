"""What one can do with a hit of the search: go to its place, open its passage, show its page."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from textual.screen import Screen

from agent.services.browse import BrowseRow, full_passage
from agent.services.filter_syntax import parse_filters
from agent.services.live_search import entry_of
from foundation.errors import PalimpsestError
from tui.internal_errors import in_thread
from tui.passages.page_screen import show_pages
from tui.passages.screen import NoteScreen, PassageScreen
from tui.search.controller import BUSY, EntryTarget, SearchChoice
from tui.typed_app import app_of

if TYPE_CHECKING:
    from memory.memory import Memory

_WHOLE_KINDS: Final = frozenset({"page", "knowledge", "archive", "file"})  # they are in no conversation


class HitActions:
    """Each action gives what the search is left with; None while it stays open."""

    def __init__(
        self,
        screen: Screen[Any],
        memory: "Memory",
        pictures: str,
        *,
        can_switch: Callable[[], bool],
        query: Callable[[], str],
    ) -> None:
        """`can_switch`: whether the chat can change the conversation now; `query` gives what is typed."""
        self._screen = screen
        self._memory = memory
        self._pictures = pictures
        self._can_switch = can_switch
        self._query = query

    async def go_to(self, row: BrowseRow) -> SearchChoice | None:
        """The entry in its conversation; opens a note in its file, and the passage of what is in no conversation."""
        if row.kind == "memory":
            return await app_of(self._screen).push_screen_wait(NoteScreen(self._memory, row))
        if row.kind in _WHOLE_KINDS:
            return await self.open(row)
        if not self._can_switch():
            self._screen.notify(BUSY, timeout=6, markup=False)
            return None
        try:
            entry = await in_thread(entry_of, self._memory, row)
        except PalimpsestError as error:
            self._report(error)
            return None
        if entry is None:
            return await self.open(row)
        return EntryTarget(entry, parse_filters(self._query()).text)

    async def open(self, row: BrowseRow) -> SearchChoice | None:
        """Shows the whole passage; gives its citation where that is to go into the prompt."""
        return await app_of(self._screen).push_screen_wait(PassageScreen(self._memory, row, self._pictures))

    async def show_page(self, row: BrowseRow) -> None:
        """Shows the page that the hit is on as a picture."""
        try:
            passage = await in_thread(full_passage, self._memory, row)
        except PalimpsestError as error:
            self._report(error)
            return
        await show_pages(self._screen, self._memory, passage, row.snippet, self._pictures)

    def _report(self, error: PalimpsestError) -> None:
        self._screen.notify(f"{error.message} {error.hint}", title=error.title, severity="warning", markup=False)
