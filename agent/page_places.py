"""Where on its pages a passage stands: the page, and the pixels at which its words begin."""

from typing import TYPE_CHECKING

from msgspec import Struct

from agent.recalling import Recalled
from foundation.trust import Trust

if TYPE_CHECKING:  # a list is shown without them
    from memory.memory import Memory
    from memory.pages.types import PageText


class PagePlace(Struct, frozen=True):
    """`page` is one of the passage's pages; from its text's character `start` on stands what is looked for."""

    page: str
    start: int


def place_of(memory: "Memory", found: Recalled, snippet: str = "") -> PagePlace | None:
    """Where the snippet begins, or else the passage; None where it stands on no page. Blocks."""
    if not found.pages:
        return None
    at = max(found.text.find(snippet), 0) if snippet else 0
    if found.entry is None:
        return PagePlace(found.pages[0], at)
    from memory.archive.rows import pages

    within = memory.cold.conversation(found.conversation).seq if found.conversation else None
    entry = memory.cold.find(found.entry, within)
    spans = memory.cold.read(lambda db: pages.spans_of(db, entry.seq))
    here = next((span for span in spans if span.start <= at < span.start + span.length), None)
    return PagePlace(here.page, here.page_start + at - here.start) if here else PagePlace(found.pages[0], 0)


def pixel_of(page: "PageText", mode: str, cell: str, start: int) -> tuple[int, int] | None:
    """Left and top of that character on the page's picture; None where the page was not read to the letter."""
    from memory.pages.render.cells import place
    from memory.pages.render.modes import DENSE, mode_named

    if page.trust is not Trust.EXACT or not page.text:
        return None
    drawn = mode_named(mode, dense=cell == DENSE.name)
    placed = place(page.text, [head.begin for head in page.heads], drawn)
    glyph = int(placed.owner.searchsorted(min(start, len(page.text) - 1)))
    if glyph >= len(placed.at):
        return None
    row, column = divmod(int(placed.at[glyph]), drawn.columns)
    return column * drawn.cell.width, (drawn.header_rows + row) * drawn.cell.height
