"""Which entries a page in view shows, by its id: such a page is drawn for the model alone, and kept nowhere."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from context.epoch import decoded
from context.pages.recipe import PageRecipe
from memory.cold import ColdStore
from memory.cold.sql import fetch
from memory.errors import MemoryFailure
from memory.records import Entry

if TYPE_CHECKING:
    from context.pages.layout import WordsOf

MOST = 20  # epochs that have pages, the newest first
_EPOCHS = """SELECT conversation, state FROM epochs WHERE instr(state, CAST('"pages":[{' AS BLOB)) > 0
    ORDER BY started_ms DESC LIMIT ?"""


class PageCoverage(Struct, frozen=True):
    """A page in view of a conversation (its seq), and the entries on it; `whole`: all that they say."""

    conversation: int
    entries: tuple[Entry, ...]
    whole: bool


def seen_on(cold: ColdStore, page_id: str, words: "WordsOf") -> PageCoverage | None:
    """What the page shows; None where no conversation's last request had it. Lays pages out, draws none."""
    from context.pages.draw import laid

    for conversation, recipe in _recipes(cold):
        entries = cold.entries(recipe.chapter.entries)
        try:
            found = laid(recipe, entries, words).id
        except MemoryFailure:  # an entry is gone: the next request has another page
            continue
        if found == page_id:
            return PageCoverage(conversation, tuple(entries[seq] for seq in recipe.shown), recipe.whole)
    return None


def _recipes(cold: ColdStore) -> Iterator[tuple[int, PageRecipe]]:
    for conversation, stored in cold.read(lambda db: fetch(db, _EPOCHS, (MOST,))):
        state = decoded(stored)
        for recipe in state.pages if state else ():
            yield conversation, recipe
