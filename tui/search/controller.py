"""Logic of the search screen, without Textual: queries, the context of a passage."""

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services import live_search
from agent.services.browse import BrowsePage
from foundation.errors import PalimpsestError
from foundation.program import PROGRAM
from tui.internal_errors import in_thread

if TYPE_CHECKING:
    from agent.services.browse import BrowseRow
    from memory.memory import Memory

KEYS: Final = "Enter goes there · Ctrl+Y cites · Ctrl+O opens · Ctrl+G page · Esc closes"
KEYS_IN_LIST: Final = "Enter goes there · y cites · o opens · p page · s why · Tab field · Esc"
INDEXING: Final = "No results yet. Memory is still being indexed; the search continues by itself."
BUSY: Final = "An answer is in progress. Ctrl+O shows the passage here; Esc in the chat stops the answer."


class EntryTarget(Struct, frozen=True):
    """An entry (its seq) to show in its conversation, and the query that matched it."""

    entry: int
    query: str = ""


SearchChoice = EntryTarget | str
"""An entry to show, or a citation for the prompt."""


class SearchController:
    """Runs the queries of one search screen on threads."""

    def __init__(self, memory: "Memory") -> None:
        self._memory = memory

    async def find_page(self, text: str, number: int, *, explain: bool) -> BrowsePage:
        """The results of page `number`; an error is returned as a page with its message."""
        try:
            return await in_thread(live_search.find_rows, self._memory, text, number, explain=explain)
        except PalimpsestError as error:
            return BrowsePage(error=f"{error.title}: {error.message}")

    async def context(self, row: "BrowseRow") -> live_search.PassageContext:
        """The neighbours of a passage; none if they cannot be read, which is reported when the passage is opened."""
        try:
            return await in_thread(live_search.passage_context, self._memory, row)
        except PalimpsestError:
            return live_search.PassageContext()


def summary(page: BrowsePage) -> str:
    """The number of rows and the time they took; during indexing, how much of memory is indexed."""
    if page.indexed is not None:
        return f"{page.total:,} found so far · {100 * page.indexed:.0f} % of memory indexed"
    damaged = f"{len(page.damaged):,} pages are damaged" if len(page.damaged) != 1 else "a page is damaged"
    total = page.total if page.next else len(page.rows)  # what says the same is folded into one row
    if page.damaged:
        return f"{total:,} found · {damaged}: `{PROGRAM} check --repair`"
    label = "found" if page.likely else "weak matches, none certain"
    return f"{total:,} {label} · {page.took_ms:,.0f} ms" if total else ""
