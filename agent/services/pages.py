"""A page by its id: one of the archive; or what a page in view, which is kept nowhere, shows."""

from typing import TYPE_CHECKING

from foundation.shell_words import command_line
from memory.errors import NotFound
from memory.pages.types import PageText

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.records import Entry

MOST = 24  # entries named


def stored_page(memory: "Memory", page_id: str) -> PageText:
    """The page's text. Raises NotFound, which names the entries that a page in view shows; Damaged."""
    try:
        return memory.vault.read_page(page_id)
    except NotFound as error:
        if told := _in_view(memory, page_id):
            raise told from error
        raise


def _in_view(memory: "Memory", page_id: str) -> NotFound | None:
    from context.pages.in_view import words_of
    from context.pages.lookup import seen_on

    seen = seen_on(memory.cold, page_id, words_of(lambda entry: memory.passage(entry).text))
    if seen is None:
        return None
    title = memory.cold.conversation_at(seen.conversation).title
    part = "" if seen.whole else "the beginnings of "
    return NotFound(
        "A page in view",
        f"{page_id} was drawn for the model's request and is not kept. It shows {part}{_named(seen.entries)} of "
        f"“{title or 'untitled'}”. Recall one of them: it comes back whole.",
        command_line("palimpsest", "recall", seen.entries[0].id),
    )


def _named(entries: "tuple[Entry, ...]") -> str:
    ids = [entry.id for entry in entries]
    more = f" and {len(ids) - MOST:,} more, up to {ids[-1]}," if len(ids) > MOST else ""
    return ", ".join(ids[:MOST]) + more
