"""Resolution of references to passages, and to pages in view, which are drawn for a request and stored nowhere."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from context.epoch import decode_epoch
from context.pages.in_view import shown_text_of
from context.pages.recipe import PageRecipe
from foundation.citations import reference_in
from foundation.program import own_command
from memory.context_store import ContextStore
from memory.errors import MemoryFailure, NotFound
from memory.recalled_passage import RecalledPassage
from memory.records import Entry

if TYPE_CHECKING:
    from context.pages.layout import ShownTextOf
    from memory.memory import Memory

MOST: Final = 20  # number of searched epochs with pages, newest first
_MOST_LISTED: Final = 24  # entries that the error names


class PageCoverage(Struct, frozen=True):
    """A page in view: the seq of its conversation and its entries; `whole`: it shows all their text."""

    conversation: int
    entries: tuple[Entry, ...]
    whole: bool


def by_reference(memory: "Memory", reference: str, conversation: str = "") -> tuple[RecalledPassage, ...]:
    """Passages that a reference resolves to (memory.references); () for plain text.

    Raises Damaged, and NotFound for an unknown reference; for a page in view, the error lists the page's entries.
    """
    try:
        return memory.references.recall(reference, conversation)
    except NotFound as error:
        if page_error := _page_error(memory, reference_in(reference)):
            raise page_error from error
        raise


def _page_error(memory: "Memory", page_id: str) -> NotFound | None:
    """Error for a page in view; None for any other reference."""
    if not page_id.startswith("pg_"):
        return None
    coverage = coverage_of(memory, page_id, shown_text_of(lambda entry: memory.passage(entry).text))
    if coverage is None:
        return None
    title = memory.conversations.at(coverage.conversation).title
    part = "" if coverage.whole else "the beginnings of "
    return NotFound(
        "A page in view",
        f"{page_id} was drawn for one request and is not stored. It shows {part}{_listed(coverage.entries)} of "
        f"“{title or 'untitled'}”. Recall one of them to read it whole.",
        own_command("recall", coverage.entries[0].id),
    )


def _listed(entries: Sequence[Entry]) -> str:
    ids = [entry.id for entry in entries]
    more = f" and {len(ids) - _MOST_LISTED:,} more, up to {ids[-1]}," if len(ids) > _MOST_LISTED else ""
    return ", ".join(ids[:_MOST_LISTED]) + more


def coverage_of(memory: "Memory", page_id: str, text_of: "ShownTextOf") -> PageCoverage | None:
    """Entries on the page; None where no conversation's last request had it. Lays pages out without drawing them."""
    from context.pages.draw import lay_out

    for conversation, recipe in _recipes(memory.context_store):
        entries = memory.conversations.entries(recipe.chapter.entries)
        try:
            candidate_id = lay_out(recipe, entries, text_of).id
        except MemoryFailure:  # an entry was deleted: the next request has another page
            continue
        if candidate_id == page_id:
            return PageCoverage(conversation, tuple(entries[seq] for seq in recipe.shown), recipe.whole)
    return None


def _recipes(store: ContextStore) -> Iterator[tuple[int, PageRecipe]]:
    for conversation, stored in store.epochs_with_pages(MOST):
        state = decode_epoch(stored)
        for recipe in state.pages if state else ():
            yield conversation, recipe
