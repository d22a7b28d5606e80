"""Resolves references to passages, and to pages in view, which are drawn for a request and stored nowhere."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from context.epoch import decode_epoch
from context.pages.recipe import PageRecipe
from foundation.citations import reference_in
from foundation.program import own_command
from memory.context_store import ContextStore
from memory.errors import MemoryFailure, NotFound
from memory.recalled_passage import RecalledPassage
from memory.records import Entry

if TYPE_CHECKING:
    from context.pages.layout import WordsOf
    from memory.memory import Memory

MOST: Final = 20  # epochs that have pages, the newest first
_MOST_NAMED: Final = 24  # entries that the error names


class PageCoverage(Struct, frozen=True):
    """A page in view of a conversation (its seq), and its entries; `whole`: it shows all their text."""

    conversation: int
    entries: tuple[Entry, ...]
    whole: bool


def by_reference(memory: "Memory", reference: str, conversation: str = "") -> tuple[RecalledPassage, ...]:
    """The passages that a reference names (memory.references); () for plain words.

    Raises NotFound for a reference to nothing, which names the entries on it where it is a page in view; Damaged.
    """
    try:
        return memory.references.recall(reference, conversation)
    except NotFound as error:
        if in_view := _in_view(memory, reference_in(reference)):
            raise in_view from error
        raise


def _in_view(memory: "Memory", page_id: str) -> NotFound | None:
    """The error for a page in view; None for another reference."""
    if not page_id.startswith("pg_"):
        return None
    from context.pages.in_view import words_of

    seen = seen_on(memory, page_id, words_of(lambda entry: memory.passage(entry).text))
    if seen is None:
        return None
    title = memory.conversations.at(seen.conversation).title
    part = "" if seen.whole else "the beginnings of "
    return NotFound(
        "A page in view",
        f"{page_id} was drawn for the model's request and is not kept. It shows {part}{_named(seen.entries)} of "
        f"“{title or 'untitled'}”. Recall one of them: it comes back whole.",
        own_command("recall", seen.entries[0].id),
    )


def _named(entries: Sequence[Entry]) -> str:
    ids = [entry.id for entry in entries]
    more = f" and {len(ids) - _MOST_NAMED:,} more, up to {ids[-1]}," if len(ids) > _MOST_NAMED else ""
    return ", ".join(ids[:_MOST_NAMED]) + more


def seen_on(memory: "Memory", page_id: str, words: "WordsOf") -> PageCoverage | None:
    """The entries on the page; None where no conversation's last request had it. Lays pages out, draws none."""
    from context.pages.draw import lay_out

    for conversation, recipe in _recipes(memory.context_store):
        entries = memory.conversations.entries(recipe.chapter.entries)
        try:
            found = lay_out(recipe, entries, words).id
        except MemoryFailure:  # an entry is gone: the next request has another page
            continue
        if found == page_id:
            return PageCoverage(conversation, tuple(entries[seq] for seq in recipe.shown), recipe.whole)
    return None


def _recipes(store: ContextStore) -> Iterator[tuple[int, PageRecipe]]:
    for conversation, stored in store.epochs_with_pages(MOST):
        state = decode_epoch(stored)
        for recipe in state.pages if state else ():
            yield conversation, recipe
