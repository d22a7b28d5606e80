"""Locations: of a passage on its pages, to the pixel, and of an entry in its conversation."""

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from foundation.trust import Trust
from memory.recalled_passage import RecalledPassage
from memory.records import Conversation, Entry

if TYPE_CHECKING:  # a list is shown without them
    from memory.memory import Memory
    from memory.pages.types import PageText


class PageLocation(Struct, frozen=True):
    """`page` is one of the passage's pages; from its text's character `start` on stands what is looked for."""

    page: str
    start: int


def place_of(memory: "Memory", found: RecalledPassage, snippet: str = "") -> PageLocation | None:
    """Where the snippet begins, or else the passage; None where it stands on no page. Blocks."""
    if not found.pages:
        return None
    at = max(found.text.find(snippet), 0) if snippet else 0
    if found.entry is None:
        return PageLocation(found.pages[0], at)
    within = memory.conversations.find(found.conversation).seq if found.conversation else None
    entry = memory.conversations.find_entry(found.entry, within)
    spans = memory.vault.spans(entry.seq)
    here = next((span for span in spans if span.start <= at < span.start + span.length), None)
    return PageLocation(here.page, here.page_start + at - here.start) if here else PageLocation(found.pages[0], 0)


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


TALK: Final = "chat"
"""The kind of conversation that can be gone on with; archives and files only stand there."""
MOST_BESIDE: Final = 2000  # entries shown after one on another branch


class EntryLocation(Struct, frozen=True, kw_only=True):
    """`below` are the seqs of what comes after the entry, the next first. `aside`: it is not on the branch that the
    conversation goes on from, and `below` follows the newest answers instead."""

    conversation: Conversation
    entry: Entry
    below: tuple[int, ...] = ()
    aside: bool = False


def whereabouts(memory: "Memory", seq: int) -> EntryLocation:
    """Where entry `seq` stands. Blocks: a conversation of 100,000 entries is walked in about a tenth of a second.

    Raises NotFound.
    """
    entry = memory.conversations.entry(seq)
    conversation = memory.conversations.at(entry.conversation_seq)
    below = _between(memory, seq, conversation.leaf)
    if below is not None:
        return EntryLocation(conversation=conversation, entry=entry, below=below)
    after = memory.conversations.neighbours(seq, 0, MOST_BESIDE)[1:]
    return EntryLocation(conversation=conversation, entry=entry, below=tuple(each.seq for each in after), aside=True)


def _between(memory: "Memory", seq: int, leaf: int | None) -> tuple[int, ...] | None:
    """The seqs from the one after `seq` down to `leaf`; None where `seq` is not above it."""
    if leaf is None:
        return None
    passed: list[int] = []
    for step in memory.conversations.path_seqs(leaf):
        if step == seq:
            return tuple(reversed(passed))
        if step < seq:  # a parent is always older than its child
            return None
        passed.append(step)
    return None
