"""Forgotten names of notes, as devices share them.

Such a note goes on under another name. Its versions keep their ids, so a device that knows one of them under the name
of before learns which name that was, and keeps a hash of it under its own secret; no word is sent. What arrives under
that name is the note with its other name, unless who wrote it had heard of that: who gives a note this name again,
knowing of it, keeps it. In what a version has heard of, such a forgetting is negative.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final

import apsw

from memory.cold.note_lines import stored_heard
from memory.cold.secret import keyed
from memory.cold.sql import each, fetch, first, marks, run, run_many
from memory.cold.sync_clock import TICKS, see, tick

_NEWEST: Final = """SELECT renamed, path FROM sync_renamed_notes WHERE note = ?
    ORDER BY renamed DESC, path DESC LIMIT 1"""
_TO_SEND: Final = """UPDATE sync_notes SET own = 1, segment = NULL WHERE own = 0 AND id IN (
    SELECT id FROM (SELECT id, max(clock) FROM sync_notes WHERE path = ? AND renamed > 0 GROUP BY device))"""
"""The newest of each device, which knows that one: so it hears of the name."""
_BOTH: Final = """UPDATE sync_merged SET stale = 1, heads = (
    SELECT json_group_array(DISTINCT h.value) FROM sync_merged m, json_each(m.heads) h WHERE m.path IN (?1, ?2))
    WHERE path = ?2"""
_LINES: Final = """INSERT OR IGNORE INTO sync_forgotten_lines (note, line, forgetting)
    SELECT ?, line, forgetting FROM sync_forgotten_lines WHERE note = ?"""


def name_now(
    db: apsw.Connection, secret: bytes, path: str, heard: Collection[int] = (), renamed: int = 0
) -> tuple[str, int]:
    """The name of the note, and the forgetting that gave it that one, for a version that has been given its path by the
    forgetting `renamed`, and whose writer had heard of these."""
    while row := first(db, _NEWEST, (_hashed(secret, path),)):
        if -row[0] in heard or row <= (renamed, path):  # of two at the same time all devices take the same
            break
        renamed, path = row
    return path, renamed


def heard_names(db: apsw.Connection, secret: bytes, path: str, parents: Iterable[str]) -> set[int]:
    """The forgettings of this name that a version made here knows: those known here, and those of its parents."""
    known = fetch(db, "SELECT renamed FROM sync_renamed_notes WHERE note = ?", (_hashed(secret, path),))
    ids = tuple(parents)
    columns = each(db, f"SELECT heard FROM sync_notes WHERE id IN ({marks(ids)})", ids)
    return {-renamed for (renamed,) in known} | {
        name for (heard,) in columns for name in stored_heard(heard) if name < 0
    }


def forget_note_names(
    db: apsw.Connection, secret: bytes, files: Iterable[str], named: Callable[[str], str], now_ms: int
) -> None:
    """Gives the versions of all notes the names that these have now, and has other devices do so.

    `named` gives the name of a note now, of files and of notes that were here.
    """
    shared = fetch(db, "SELECT path FROM sync_notes UNION SELECT path FROM sync_merged")
    for path in sorted({*files, *(path for (path,) in shared)}):
        if (new := named(path)) == path:
            continue
        known = first(
            db,
            "SELECT renamed FROM sync_renamed_notes WHERE note = ? AND path = ? AND due = 1",
            (
                _hashed(secret, path),
                new,
            ),
        )
        has_device = first(db, "SELECT 1 FROM sync_device") is not None
        renamed = known[0] if known else tick(db, now_ms) if has_device else now_ms * TICKS
        _learn(db, secret, path, new, renamed)
        _take_merged(db, path, new)


def take_name(db: apsw.Connection, secret: bytes, id_: str, path: str, renamed: int) -> bool:
    """Takes the name of a note from a version that is known here; whether it, or the one of before, is new."""
    ((held, before),) = fetch(db, "SELECT path, renamed FROM sync_notes WHERE id = ?", (id_,))
    see(db, renamed)
    if path == held:
        run(db, "UPDATE sync_notes SET renamed = max(renamed, ?) WHERE id = ?", (renamed, id_))
        return False
    if (renamed, path) > (before, held):
        return _learn(db, secret, held, path, renamed)
    return _learn(db, secret, path, held, before)


def due_names(db: apsw.Connection, secret: bytes, paths: Iterable[str]) -> dict[str, str]:
    """Those of the paths whose files are to get other names, with these."""
    due = {note for (note,) in fetch(db, "SELECT note FROM sync_renamed_notes WHERE due = 1")}
    return {path: name_now(db, secret, path)[0] for path in paths if due and _hashed(secret, path) in due}


def settle_names(db: apsw.Connection, secret: bytes, paths: Iterable[str]) -> None:
    """Notes that no file has any of the forgotten names but these paths."""
    due = {note for (note,) in fetch(db, "SELECT note FROM sync_renamed_notes WHERE due = 1")}
    done = due - {_hashed(secret, path) for path in paths} if due else due
    run_many(db, "UPDATE sync_renamed_notes SET due = 0 WHERE note = ?", [(note,) for note in sorted(done)])


def _learn(db: apsw.Connection, secret: bytes, before: str, path: str, renamed: int) -> bool:
    sql = "INSERT OR IGNORE INTO sync_renamed_notes (note, renamed, path) VALUES (?, ?, ?)"
    is_new = run(db, sql, (_hashed(secret, before), renamed, path)) > 0
    columns = "SELECT id, own, segment, heard, renamed FROM sync_notes WHERE path = ?"
    moved = set[str]()
    for id_, own, segment, heard, given in fetch(db, columns, (before,)):
        new, at = name_now(db, secret, before, stored_heard(heard), given)
        if new != before:
            moved.add(new)
            run(db, "UPDATE sync_notes SET path = ?, renamed = ? WHERE id = ?", (new, at, id_))
            run(db, "UPDATE sync_written SET stale = 1 WHERE number = ? AND ?", (segment, own))
    for new in moved:
        run(db, _TO_SEND, (new,))
        run(db, _LINES, (new, before))
    run(db, "DELETE FROM sync_forgotten_lines WHERE note NOT IN (SELECT path FROM sync_notes) AND note = ?", (before,))
    run_many(db, "UPDATE sync_merged SET stale = 1 WHERE path = ?", [(each_,) for each_ in (before, *moved)])
    return is_new


def _take_merged(db: apsw.Connection, before: str, path: str) -> None:
    """Moves what the file held when its versions were last put together. Where there is such a note already, the file
    is made of both."""
    run(db, _BOTH, (before, path))
    run(db, "UPDATE OR IGNORE sync_merged SET path = ?, stale = 1 WHERE path = ?", (path, before))
    run(db, "DELETE FROM sync_merged WHERE path = ?", (before,))


def _hashed(secret: bytes, path: str) -> str:
    return keyed(secret, f"name of a note {path}")
