"""Conversations that nobody touched since a moment, with the size of their text, and why some are left alone.

Touched means written to, or recalled into another conversation: the citations of what was sent, and of the results of
memory tools, say what was recalled and when.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

import apsw
import msgspec
from msgspec import Struct

from foundation.clock import from_ms, to_ms
from memory.archive.lifecycle.overdue import PINNED
from memory.cold import ColdStore
from memory.cold.encoding import plain, to_parts, unpack
from memory.cold.recalled_results import refs_in
from memory.cold.rows import CONVERSATIONS, LARGEST_FIELDS, conversation_of
from memory.cold.sql import batches, each, fetch, marks
from memory.errors import Damaged
from memory.observations.observation import Importance
from memory.origin import MEMORY_TOOLS
from memory.records import Conversation, EntryKind
from models.messages import RecalledSpan

KEEP = "keep"
"""A conversation with this label is never proposed, archived by a rule or deleted by one."""

KEPT = "excluded by you"
"""Why such a conversation is left alone."""

BOOKMARK = "★"

_IDLE = f"{CONVERSATIONS} WHERE c.kind = 'chat' AND c.updated_ms < ? ORDER BY c.updated_ms, c.seq"
_SIZES = """SELECT conversation, count(*) FILTER (WHERE body IS NOT NULL AND chars > 0 AND leaves),
    coalesce(sum(octet_length(body)) FILTER (WHERE leaves), 0), count(*) FILTER (WHERE body IS NULL)
    FROM (SELECT *, kind NOT IN ('summary', 'observation') AS leaves FROM entries WHERE conversation IN ({}))
    GROUP BY conversation"""
_IMPORTANT = f"""SELECT DISTINCT conversation FROM entries
    WHERE conversation IN ({{}}) AND kind = '{EntryKind.OBSERVATION.value}'
    AND (instr(meta, CAST('"importance":"{Importance.CRITICAL.value}"' AS BLOB))
      OR instr(meta, CAST('"importance":"{Importance.DECISION.value}"' AS BLOB)))"""


class IdleConversation(Struct, frozen=True, kw_only=True):
    """A conversation that is idle. `stored` counts the entries whose text is in the database, `bytes` its bytes there;
    `archived` those on pages. `stays` is why it is left alone, or ""."""

    conversation: Conversation
    touched: datetime
    stored: int
    bytes: int
    archived: int
    stays: str


def idle_conversations(cold: ColdStore, before: datetime, *, keep_important: bool = True) -> list[IdleConversation]:
    """Chats that nobody touched since then, the oldest first. Reads sizes, and no text but that of memory tools."""
    return cold.read(lambda db: list(_idle(db, to_ms(before), keep_important)))


def _idle(db: apsw.Connection, before_ms: int, keep_important: bool) -> Iterator[IdleConversation]:
    conversations = [conversation_of(row) for row in each(db, _IDLE, (before_ms,))]
    if not conversations:
        return
    recalled = _recalled_since(db, before_ms)
    idle = [conversation for conversation in conversations if conversation.id not in recalled]
    sizes = {
        seq: figures
        for batch in batches([conversation.seq for conversation in idle])
        for seq, *figures in each(db, _SIZES.format(marks(batch)), batch)
    }
    important = set[int]()
    for batch in batches([conversation.seq for conversation in idle]) if keep_important else ():
        important.update(seq for (seq,) in each(db, _IMPORTANT.format(marks(batch)), batch))
    pinned = {seq for (seq,) in each(db, "SELECT conversation FROM archives WHERE pinned AND conversation IS NOT NULL")}
    busy = {seq for (seq,) in each(db, "SELECT e.conversation FROM answers a JOIN entries e ON e.seq = a.entry")}
    for conversation in idle:
        stored, size, archived = sizes.get(conversation.seq, (0, 0, 0))
        yield IdleConversation(
            conversation=conversation,
            touched=conversation.updated,
            stored=stored,
            bytes=size,
            archived=archived,
            stays=_stays(conversation, pinned=pinned, important=important, busy=busy),
        )


def _stays(conversation: Conversation, *, pinned: set[int], important: set[int], busy: set[int]) -> str:
    """Why the conversation is left alone; "" where it is not."""
    seq, labels = conversation.seq, conversation.labels
    reasons = (
        (PINNED in labels or seq in pinned, "pinned"),
        (KEEP in labels, KEPT),
        (any(label.startswith("turn:") and label.endswith(f"={BOOKMARK}") for label in labels), "bookmarked"),
        (seq in important, "important: it has decisions (🟤) or critical notes (🔴)"),
        (conversation.damaged, "its row is damaged"),
        (seq in busy, "an answer is being written"),
    )
    return next((reason for holds, reason in reasons if holds), "")


def _recalled_since(db: apsw.Connection, since_ms: int) -> frozenset[str]:
    """Ids of conversations that were cited in what was sent, or in a result of a memory tool, from then on."""
    found, refs = set[str](), set[str]()
    sql = """SELECT sent FROM entries WHERE time_ms >= ? AND sent IS NOT NULL AND octet_length(sent) <= ?
             AND instr(sent, x'226369746174696f6e22')"""  # "citation"
    for (sent,) in each(db, sql, (since_ms, LARGEST_FIELDS)):
        try:
            citations = [part.citation for part in to_parts(sent) if isinstance(part, RecalledSpan)]
        except (ValueError, msgspec.MsgspecError):  # a damaged column: `check` names it
            continue
        found.update(citation.conversation for citation in citations)
        refs.update(citation.ref for citation in citations)
    tools = f"""SELECT body, packed, chars FROM entries WHERE time_ms >= ? AND kind = '{EntryKind.TOOL_RESULT.value}'
                AND speaker IN {MEMORY_TOOLS!r} AND body IS NOT NULL AND octet_length(body) <= ?"""
    for body, packed, chars in each(db, tools, (since_ms, LARGEST_FIELDS)):
        try:
            refs |= refs_in(unpack(body, packed, chars))
        except Damaged:
            continue
    return frozenset(found - {""} | _conversations_of(db, sorted(map(plain, refs))))


def _conversations_of(db: apsw.Connection, refs: Sequence[str]) -> set[str]:
    """The conversations of these entries and pages."""
    found = set[str]()
    for batch in batches(refs):
        entries = f"""SELECT c.id FROM entries e JOIN conversations c ON c.seq = e.conversation
                      WHERE e.id IN ({marks(batch)})"""
        pages = f"""SELECT c.id FROM pages p JOIN archives a ON a.seq = p.archive
                    JOIN conversations c ON c.seq = a.conversation WHERE p.id IN ({marks(batch)})"""
        found.update(id_ for sql in (entries, pages) for (id_,) in fetch(db, sql, batch))
    return found


def idle_days(idle: IdleConversation, now: datetime) -> int:
    """Whole days since it was touched."""
    return (now - idle.touched).days


def moment_days_ago(now: datetime, days: int) -> datetime:
    """So many days before now; 1970 at the least."""
    return from_ms(max(to_ms(now) - days * 86_400_000, 0))
