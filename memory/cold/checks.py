"""Looks the whole store over."""

from collections.abc import Callable, Iterator

import apsw
from msgspec import Struct

from memory.cold.bodies import digest, to_bytes, unpack
from memory.cold.sql import each, fetch
from memory.errors import Damaged

FILE = "cold.db"


class Problem(Struct, frozen=True):
    """Something that is not as it should be: `what` in a word, `where` its id, `message` a sentence."""

    what: str
    where: str
    message: str


def check(connection: apsw.Connection, is_gone: Callable[[str], bool]) -> list[Problem]:
    """All problems; `is_gone` tells of an owner of answers whether its process has ended."""
    try:
        problems = list(_file(connection))
        if not problems:  # rows of a damaged file say nothing
            problems = [*_texts(connection), *_answers(connection, is_gone), *_spans(connection), *_terms(connection)]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        return [Problem("file", FILE, f"SQLite cannot read it: {error}.")]
    return problems


def _file(connection: apsw.Connection) -> Iterator[Problem]:
    for (said,) in each(connection, "PRAGMA integrity_check"):
        if said != "ok":
            yield Problem("file", FILE, f"SQLite's own check says: {said}.")
    for table, row, parent, _ in each(connection, "PRAGMA foreign_key_check"):
        yield Problem("reference", f"{table} {row}", f"A row of {table} names a row of {parent} that is not there.")


def _texts(connection: apsw.Connection) -> Iterator[Problem]:
    rows = each(connection, "SELECT id, body, packed, chars, sha256 FROM entries WHERE body IS NOT NULL")
    for id_, body, packed, chars, sha256 in rows:
        try:
            text = unpack(body, packed, chars)
        except Damaged as error:
            yield Problem("text", id_, error.message)
            continue
        if digest(to_bytes(text)) != sha256:
            yield Problem("text", id_, "The text is not the one that was stored: its SHA-256 differs.")
        elif len(text) != chars:
            yield Problem("text", id_, f"The text has {len(text)} characters, its row says {chars}.")


def _answers(connection: apsw.Connection, is_gone: Callable[[str], bool]) -> Iterator[Problem]:
    rows = fetch(connection, "SELECT e.id, owner FROM answers JOIN entries e ON e.seq = entry")
    for id_, owner in rows:
        if is_gone(owner):
            yield Problem("answer", id_, "The answer was cut off by a crash, and was not recovered yet.")
    orphans = each(
        connection,
        """SELECT DISTINCT e.id FROM chunks c JOIN entries e ON e.seq = c.entry
           WHERE c.entry NOT IN (SELECT entry FROM answers)""",
    )
    for (id_,) in orphans:
        yield Problem("chunks", id_, "Parts of an answer are left beside it, though it is not in flight.")


def _spans(connection: apsw.Connection) -> Iterator[Problem]:
    astray = each(
        connection,
        """SELECT e.id, s.page FROM spans s JOIN entries e ON e.seq = s.entry LEFT JOIN pages p ON p.id = s.page
           WHERE p.id IS NULL OR s.start < 0 OR s.length < 0 OR s.start + s.length > e.chars
              OR s.page_start < 0 OR s.page_start + s.length > p.chars""",
    )
    for id_, page in astray:
        yield Problem("span", id_, f"Its place on page {page} lies outside of the page or the text.")
    lost = each(
        connection,
        """SELECT id FROM entries e WHERE body IS NULL AND chars > coalesce(
           (SELECT sum(length) FROM spans s WHERE s.entry = e.seq), 0)""",
    )
    for (id_,) in lost:
        yield Problem("span", id_, "Its text was let go, and not all of it stands on a page.")


def _terms(connection: apsw.Connection) -> Iterator[Problem]:
    bare = each(
        connection,
        """SELECT id FROM entries WHERE seq NOT IN (SELECT entry FROM terms)
           AND seq NOT IN (SELECT entry FROM answers)""",
    )
    for (id_,) in bare:
        yield Problem("terms", id_, "It has no terms, so that a search cannot find it.")
