"""What a timeline may be around: a moment, an entry, a page, a note."""

from datetime import datetime

from foundation.clock import from_ms, to_ms
from foundation.errors import Misuse
from memory.cold import ColdStore, Entry
from memory.cold.sql import fetch
from memory.errors import NotFound
from memory.hot import HotMemory
from memory.search.asking.timeline import Anchor

ENTRIES, NOTES = 0, 1
"""Numbers of the sources."""


def anchor(around: datetime | str, cold: ColdStore, hot: HotMemory) -> Anchor:
    """Where a timeline stands. Raises NotFound for an id that is none, Misuse for a note that has no time."""
    if isinstance(around, datetime):
        return Anchor(to_ms(around))
    if around.startswith("m_"):
        return _of_note(around, hot)
    if around.startswith("pg_"):
        sql = "SELECT entry FROM spans WHERE page = ? ORDER BY entry LIMIT 1"
        rows = cold.read(lambda db: fetch(db, sql, (around,)))
        if not rows:
            raise NotFound("No such page", f"There is no page {around}.", "`palimpsest search` shows the ids of pages.")
        entry = cold.entry(rows[0][0])
    else:
        entry = _named(around, cold)
    return Anchor(to_ms(entry.time), ENTRIES, entry.seq)


def moment_of(around: datetime | str, cold: ColdStore, hot: HotMemory) -> datetime:
    """When that was. Raises as `anchor` does."""
    return around if isinstance(around, datetime) else from_ms(anchor(around, cold, hot).ms)


def _named(around: str, cold: ColdStore) -> Entry:
    try:
        return cold.find(around)
    except NotFound as error:
        if "more than one" in error.message:
            raise
        raise NotFound(
            "Around what?", f"“{around}” is neither a moment nor the id of an entry.",
            "--around takes 2026-03-01, 2w, the id of a hit (e_…), or best.",
        ) from error  # fmt: skip


def _of_note(id_: str, hot: HotMemory) -> Anchor:
    note = hot.note(id_)
    if note.time is None:
        raise Misuse(
            "No moment", f"The note {id_} does not say when it was written.", "Search around a moment instead."
        )
    number = next(place for place, each in enumerate(hot.notes()) if each.id == note.id)
    return Anchor(to_ms(note.time), NOTES, number)
