"""Listing of chats by the day of their last entry: days with their counts, the chats of one day, titles, figures.

A day is a local one. Nothing here reads a text.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta

import apsw

from foundation.clock import EARLIEST_MS, LATEST_MS, from_ms, to_ms
from memory.cold.encoding import to_text
from memory.cold.rows import CONVERSATIONS, conversation_of
from memory.cold.sql import day_of, each, fetch, marks
from memory.cold.statistics import CHARS_A_TOKEN
from memory.records import ONE_SHOT, Conversation, ConversationFigures

_LISTED = f"""c.kind = 'chat'
    AND (? OR NOT EXISTS (SELECT 1 FROM labels WHERE conversation = c.seq AND label = '{ONE_SHOT}'))"""
"""SQL: whether a conversation is listed; its parameter: whether one-shots are."""

_FIGURES = f"""SELECT conversation, count(*) FILTER (WHERE kind = 'message' AND role = 'user'), sum(coalesce(
        (SELECT max(tokens) FROM token_counts t WHERE t.entry = e.seq),
        (e.chars + {CHARS_A_TOKEN - 1}) / {CHARS_A_TOKEN}
    )) FROM entries e WHERE conversation IN ({{}}) GROUP BY conversation"""


def conversation_days(connection: apsw.Connection, *, one_shots: bool) -> dict[date, int]:
    """How many chats were last written on each day, newest first; days without any are left out."""
    sql = f"""SELECT {day_of("c.updated_ms", local=True)} AS day, count(*) FROM conversations c
        WHERE {_LISTED} GROUP BY day ORDER BY day DESC"""
    return {date.fromisoformat(day): count for day, count in each(connection, sql, (one_shots,))}


def first_made(connection: apsw.Connection) -> datetime | None:
    """When the first conversation was made; None where there is none."""
    rows = fetch(connection, "SELECT created_ms FROM conversations ORDER BY seq LIMIT 1")
    return from_ms(rows[0][0]) if rows else None


def last_touched(connection: apsw.Connection, before_ms: int) -> datetime | None:
    """When a conversation was last written to before then, of those that were not written to since; None for never."""
    sql = "SELECT max(updated_ms) FROM conversations WHERE updated_ms < ?"
    ((updated,),) = fetch(connection, sql, (before_ms,))
    return from_ms(updated) if updated is not None else None


def count_one_shots(connection: apsw.Connection) -> int:
    """How many chats are one-shots."""
    sql = "SELECT count(*) FROM labels JOIN conversations c ON c.seq = conversation AND c.kind = 'chat' WHERE label = ?"
    return int(fetch(connection, sql, (ONE_SHOT,))[0][0])


def conversations_of_day(connection: apsw.Connection, day: date, *, one_shots: bool) -> list[Conversation]:
    """The chats that were last written on that day, newest first."""
    first, last = (
        to_ms(datetime(each_day.year, each_day.month, each_day.day).astimezone())
        for each_day in (day, day + timedelta(days=1))
    )
    first = first if first > EARLIEST_MS else -(2**63)  # what is no time is on the nearest day
    last = last - 1 if last <= LATEST_MS else 2**63 - 1
    where = f"WHERE {_LISTED} AND c.updated_ms BETWEEN ? AND ? ORDER BY c.updated_ms DESC, c.seq DESC"
    return [conversation_of(row) for row in each(connection, f"{CONVERSATIONS} {where}", (one_shots, first, last))]


def conversations_titled(
    connection: apsw.Connection, words: Sequence[str], limit: int, *, one_shots: bool
) -> list[Conversation]:
    """At most `limit` chats whose title holds every word in any case, newest first."""
    lowered, seqs = [word.lower() for word in words], list[int]()
    sql = f"SELECT c.seq, c.title FROM conversations c WHERE {_LISTED} ORDER BY c.updated_ms DESC, c.seq DESC"
    for seq, title in each(connection, sql, (one_shots,)):
        text = _readable(title).lower()
        if all(word in text for word in lowered):
            seqs.append(seq)
        if len(seqs) == limit:
            break
    rows = each(connection, f"{CONVERSATIONS} WHERE c.seq IN ({marks(seqs)}) ORDER BY c.updated_ms DESC", seqs)
    return [conversation_of(row) for row in rows]


def conversation_figures(connection: apsw.Connection, seqs: Sequence[int]) -> dict[int, ConversationFigures]:
    """The figures of these conversations; reads the head of each of their entries."""
    rows = each(connection, _FIGURES.format(marks(seqs)), seqs)
    return {seq: ConversationFigures(turns, tokens) for seq, turns, tokens in rows}


def _readable(title: bytes) -> str:
    try:
        return to_text(title)
    except ValueError:  # a damaged title
        return title.decode("utf-8", "replace")
