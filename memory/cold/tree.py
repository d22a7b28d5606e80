"""Walks of the entry tree. None starts at the root: each walk reads pages of a bounded number of rows."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import accumulate
from typing import cast

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import from_ms
from memory.cold.entries import entries_at, entry_at
from memory.cold.rows import ENTRIES, LARGEST_FIELDS, entries_of, entry_of
from memory.cold.sql import each, fetch, marks
from memory.cold.statistics import CHARS_A_TOKEN
from memory.records import UNDOES, Branch, Entry, EntryKind, EntryNode

PAGE = 128  # rows read at once on the way up
FIRST_PAGE = 64  # the last turns, which most requests make do with
PAGE_SIZE = 32 * 2**20  # characters and bytes of fields read at once

_UP = """
WITH RECURSIVE up (seq, parent, kind) AS (
    SELECT seq, parent, kind FROM entries WHERE seq = ?
    UNION ALL
    SELECT e.seq, e.parent, e.kind FROM up JOIN entries e ON e.seq = up.parent
    LIMIT ?
)
SELECT seq, parent, kind FROM up ORDER BY seq DESC
"""  # a parent is always older than its child, so the order of seq is that of the path

_RESULTS = f"""
WITH RECURSIVE below (seq) AS (
    SELECT seq FROM entries WHERE parent = ? AND kind = '{EntryKind.TOOL_RESULT.value}'
    UNION
    SELECT e.seq FROM below JOIN entries e ON e.parent = below.seq WHERE e.kind = '{EntryKind.TOOL_RESULT.value}'
)
SELECT CASE WHEN length(meta) <= {LARGEST_FIELDS} THEN meta END FROM below JOIN entries USING (seq)
"""

_IS_ASIDE = f"e.kind = '{EntryKind.OBSERVATION.value}'"
"""SQL: whether an entry may be off every branch: an observation of the entry above it."""

_NODES = f"""SELECT e.seq, e.id, e.parent, e.kind, e.role, e.time_ms, coalesce(
        (SELECT max(tokens) FROM token_counts t WHERE t.entry = e.seq),
        (e.chars + {CHARS_A_TOKEN - 1}) / {CHARS_A_TOKEN}
    ) FROM entries e WHERE e.conversation = ? ORDER BY e.seq"""

Step = tuple[int, int | None, str]  # seq, parent, kind


class _ResultFields(Struct):
    """Of a tool result's meta: the call that it answers."""

    call_id: str = ""


def steps_up(connection: apsw.Connection, leaf: int, limit: int) -> list[Step]:
    """At most `limit` steps from `leaf` towards the root, newest first, without any text."""
    return fetch(connection, _UP, (leaf, limit))


def branch(connection: apsw.Connection, leaf: int) -> Branch:
    """The path from its compaction anchor to `leaf`, with summaries apart from the entries.

    The anchor is the nearest summary at or above the leaf. Its meta names the first entry that is kept with it, and the
    earlier summaries still in view. Without an anchor the path is read to its root. Raises NotFound.
    """
    entry_at(connection, leaf)
    kept: list[int] = []
    anchor: Entry | None = None
    floor = 0
    for seq, _, kind in _path(connection, leaf):
        if kind == EntryKind.SUMMARY and anchor is None:
            anchor = entry_at(connection, seq)
            first: int | None = anchor.meta.get("first_kept")
            floor = seq if first is None else first
        if seq < floor:
            break
        if kind != EntryKind.SUMMARY:
            kept.append(seq)
    found = entries_at(connection, kept)
    return Branch(_summaries(connection, anchor), tuple(found[seq] for seq in reversed(kept)))


def children(connection: apsw.Connection, seq: int) -> list[Entry]:
    """The entry's children, oldest first, its observations among them; several others if the conversation branches."""
    return entries_of(connection, each(connection, f"{ENTRIES} WHERE e.parent = ? ORDER BY e.seq", (seq,)))


def entry_nodes(connection: apsw.Connection, conversation: int) -> list[EntryNode]:
    """Every entry of the conversation without its text, oldest first."""
    rows = each(connection, _NODES, (conversation,))
    return [
        EntryNode(seq, id_, parent, kind, role, from_ms(ms), tokens)
        for seq, id_, parent, kind, role, ms, tokens in rows
    ]


def summaries_beside(connection: apsw.Connection, conversation: int) -> list[Entry]:
    """The summaries that stand on no branch (memory/turn_summaries.py), oldest first."""
    where = f"WHERE e.conversation = ? AND e.kind = '{EntryKind.SUMMARY.value}' AND e.parent IS NULL ORDER BY e.seq"
    return entries_of(connection, each(connection, f"{ENTRIES} {where}", (conversation,)))


def result_calls(connection: apsw.Connection, answer: int) -> set[str]:
    """Ids of the calls of an answer that have a result below it, on any branch."""
    calls: set[str] = set()
    for (meta,) in each(connection, _RESULTS, (answer,)):
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            calls.add(msgspec.json.decode(meta or b"{}", type=_ResultFields).call_id)
    return calls


def neighbours(connection: apsw.Connection, seq: int, before: int, after: int) -> list[Entry]:
    """The entry with at most `before` above and `after` below it, oldest first; below, along the newest branch.

    Raises NotFound.
    """
    entry_at(connection, seq)
    around = _above(connection, seq, before + 1)
    below = seq
    for _ in range(after):
        rows = fetch(connection, f"{ENTRIES} WHERE e.parent = ? ORDER BY {_IS_ASIDE}, e.seq DESC LIMIT 1", (below,))
        if not rows:
            break
        around.append(entry_of(connection, rows[0]))
        below = around[-1].seq
    return around


def path(read: Callable[[Callable[[apsw.Connection], list[Entry]]], list[Entry]], leaf: int) -> Iterator[Entry]:
    """The whole path, newest first, a page of entries at a time; `read` runs a function in a reading transaction.

    A page holds at most PAGE entries and PAGE_SIZE characters and bytes of fields, but one entry at least.
    """
    at: int | None = leaf
    limit = FIRST_PAGE
    while at is not None:
        page = read(partial(_page, leaf=at, limit=limit))
        yield from reversed(page)
        at = page[0].parent if page else None
        limit = PAGE


def _page(connection: apsw.Connection, leaf: int, limit: int) -> list[Entry]:
    """At most `limit` entries up from `leaf`, oldest first, and no more characters than a page holds."""
    seqs = [step[0] for step in steps_up(connection, leaf, limit)]
    rows = fetch(
        connection,
        "SELECT seq, chars + ifnull(octet_length(sent), 0) + ifnull(octet_length(meta), 0) FROM entries "
        f"WHERE seq IN ({marks(seqs)})",
        seqs,
    )
    sizes = cast("dict[int, int]", dict(rows))
    taken = sum(total <= PAGE_SIZE for total in accumulate(sizes[seq] for seq in seqs))
    found = entries_at(connection, seqs[: max(1, taken)])
    return [found[seq] for seq in reversed(seqs[: max(1, taken)])]


def _above(connection: apsw.Connection, leaf: int, limit: int) -> list[Entry]:
    """At most `limit` entries up from `leaf`, oldest first."""
    steps = steps_up(connection, leaf, limit)
    found = entries_at(connection, [step[0] for step in steps])
    return [found[step[0]] for step in reversed(steps)]


def _path(connection: apsw.Connection, leaf: int) -> Iterable[Step]:
    at: int | None = leaf
    while at is not None:
        steps = steps_up(connection, at, PAGE)
        yield from steps
        at = steps[-1][1] if steps else None


def _summaries(connection: apsw.Connection, anchor: Entry | None) -> tuple[Entry, ...]:
    if anchor is None:
        return ()
    prior: list[int] = anchor.meta.get("prior", [])
    found = entries_at(connection, prior)
    summaries = tuple(found[seq] for seq in prior if seq in found)
    return summaries if UNDOES in anchor.meta else (*summaries, anchor)
