"""Journal of deletions: an interrupted deletion is resumed, and a deleted conversation stays deleted."""

import hashlib
from collections.abc import Iterable

import apsw
import msgspec
from msgspec import Struct

from foundation.names import PAGE, TOKEN
from foundation.typed_json import decode_json
from memory.cold.encoding import plain
from memory.cold.sql import SqlRow, each, fetch, run
from memory.names import vetted

_COLUMNS = "SELECT token, conversation, deleted_ms, pages, finished FROM deletions"
_TABLE = "table deletions"


class Deletion(Struct, frozen=True, kw_only=True):
    """A deletion, finished or not. `conversation` is the conversation's seq, 0 if unknown."""

    token: str
    conversation: int
    deleted_ms: int
    pages: tuple[str, ...] = ()  # drawn for it
    finished: bool = False


def token_of(source: str, id_: str) -> str:
    """A conversation's token: a hash in place of its name, which may be private."""
    return hashlib.sha256(f"{plain(source)}\0{plain(id_)}".encode()).hexdigest()


def tokens(db: apsw.Connection) -> dict[str, int]:
    """Seqs of all conversations, by token."""
    return {token_of(source, id_): seq for seq, source, id_ in each(db, "SELECT seq, source, id FROM conversations")}


def note(db: apsw.Connection, conversation: int, now_ms: int) -> Deletion:
    """Records that the conversation is to be deleted; the deletion is completed even after a crash."""
    ((source, id_),) = fetch(db, "SELECT source, id FROM conversations WHERE seq = ?", (conversation,))
    token = token_of(source, id_)
    run(
        db,
        "INSERT OR REPLACE INTO deletions (token, name, conversation, deleted_ms) VALUES (?, ?, ?, ?)",
        (token, _name(id_), conversation, now_ms),
    )
    return Deletion(token=token, conversation=conversation, deleted_ms=now_ms)


def put(db: apsw.Connection, known: Iterable[Deletion]) -> None:
    """Inserts the deletions that are not recorded yet."""
    for deletion in known:
        sql = (
            "INSERT OR IGNORE INTO deletions (token, conversation, deleted_ms, pages, finished) VALUES (?, 0, ?, ?, 1)"
        )
        run(db, sql, (deletion.token, deletion.deleted_ms, msgspec.json.encode(deletion.pages).decode()))


def put_pages(db: apsw.Connection, token: str, pages: Iterable[str]) -> None:
    listed = msgspec.json.encode(sorted(pages)).decode()
    run(db, "UPDATE deletions SET pages = ? WHERE token = ?", (listed, token))


def finish(db: apsw.Connection, token: str) -> None:
    run(db, "UPDATE deletions SET finished = 1 WHERE token = ?", (token,))


def withdraw(db: apsw.Connection, token: str) -> None:
    run(db, "DELETE FROM deletions WHERE token = ?", (token,))


def deletions(db: apsw.Connection) -> list[Deletion]:
    """All recorded deletions, oldest first. Raises ForgedName."""
    return [_of(row) for row in fetch(db, f"{_COLUMNS} ORDER BY deleted_ms, token")]


def unfinished(db: apsw.Connection) -> list[Deletion]:
    """Deletions that were begun and not finished."""
    return [_of(row) for row in fetch(db, f"{_COLUMNS} WHERE NOT finished ORDER BY deleted_ms, token")]


def find(db: apsw.Connection, id_: str) -> Deletion | None:
    """The latest deletion of a conversation with this id, of any source."""
    rows = fetch(db, f"{_COLUMNS} WHERE name = ? ORDER BY deleted_ms DESC LIMIT 1", (_name(id_),))
    return _of(rows[0]) if rows else None


def _name(id_: str) -> str:
    return hashlib.sha256(plain(id_).encode()).hexdigest()


def _of(row: SqlRow) -> Deletion:
    token, conversation, deleted_ms, pages, finished = row
    try:
        listed = decode_json(pages, tuple[str, ...])
    except msgspec.DecodeError:
        listed = (pages,)  # no list: no name of a page either
    return Deletion(
        token=vetted(TOKEN, token, _TABLE),
        conversation=conversation,
        deleted_ms=deleted_ms,
        pages=tuple(vetted(PAGE, page, _TABLE) for page in listed),
        finished=bool(finished),
    )
