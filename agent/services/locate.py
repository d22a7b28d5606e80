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
    """A page, and the offset in its text (characters) at which the passage or snippet starts."""

    page: str
    start: int


def page_location(memory: "Memory", passage: RecalledPassage, snippet: str = "") -> PageLocation | None:
    """The start of the snippet, or else of the passage; None where it is on no page. Blocks."""
    if not passage.pages:
        return None
    at = max(passage.text.find(snippet), 0) if snippet else 0
    if passage.entry is None:
        return PageLocation(passage.pages[0], at)
    conversation_seq = memory.conversations.find(passage.conversation).seq if passage.conversation else None
    entry = memory.conversations.find_entry(passage.entry, conversation_seq)
    spans = memory.vault.spans(entry.seq)
    containing = next((span for span in spans if span.start <= at < span.start + span.length), None)
    return (
        PageLocation(containing.page, containing.page_start + at - containing.start)
        if containing
        else PageLocation(passage.pages[0], 0)
    )


def pixel_position(page: "PageText", mode: str, cell: str, start: int) -> tuple[int, int] | None:
    """Left and top of that character on the page's picture, in pixels; None for a page that is not exact."""
    from memory.pages.render.cells import place_glyphs
    from memory.pages.render.modes import DENSE, mode_named

    if page.trust is not Trust.EXACT or not page.text:
        return None
    page_mode = mode_named(mode, dense=cell == DENSE.name)
    layout = place_glyphs(page.text, [head.begin for head in page.heads], page_mode)
    glyph = int(layout.owner.searchsorted(min(start, len(page.text) - 1)))
    if glyph >= len(layout.at):
        return None
    row, column = divmod(int(layout.at[glyph]), page_mode.columns)
    return column * page_mode.cell.width, (page_mode.header_rows + row) * page_mode.cell.height


CHAT_KIND: Final = "chat"
"""The kind of conversation that can be continued, unlike archives and files."""
MAX_SIDE_ENTRIES: Final = 2000  # entries shown below one on another branch


class EntryLocation(Struct, frozen=True, kw_only=True):
    """An entry in its conversation. `below` are the seqs of the following entries, the next first.

    `off_branch`: the entry is not on the conversation's current branch, and `below` follows the newest answers instead.
    """

    conversation: Conversation
    entry: Entry
    below: tuple[int, ...] = ()
    off_branch: bool = False


def locate_entry(memory: "Memory", seq: int) -> EntryLocation:
    """Locates entry `seq`. Blocks: a conversation of 100,000 entries is walked in about a tenth of a second.

    Raises NotFound.
    """
    entry = memory.conversations.entry(seq)
    conversation = memory.conversations.at(entry.conversation_seq)
    below = _path_below(memory, seq, conversation.leaf)
    if below is not None:
        return EntryLocation(conversation=conversation, entry=entry, below=below)
    after = memory.conversations.neighbours(seq, 0, MAX_SIDE_ENTRIES)[1:]
    return EntryLocation(
        conversation=conversation, entry=entry, below=tuple(neighbour.seq for neighbour in after), off_branch=True
    )


def _path_below(memory: "Memory", seq: int, leaf: int | None) -> tuple[int, ...] | None:
    """The seqs from the one after `seq` down to `leaf`; None where `seq` is not above it."""
    if leaf is None:
        return None
    below: list[int] = []
    for current in memory.conversations.path_seqs(leaf):
        if current == seq:
            return tuple(reversed(below))
        if current < seq:  # a parent is always older than its child
            return None
        below.append(current)
    return None
