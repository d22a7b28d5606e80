"""Copies of a conversation's text in the sent parts of other conversations' entries, made by recall.

Deleting the conversation blanks them. The fact and time of the recall stay.
"""

from collections.abc import Callable

import apsw
import msgspec
from msgspec import Struct, structs

from foundation.trust import Citation
from memory.cold.encoding import from_parts, to_parts
from memory.cold.integrity.row_hashes import seal_rows
from memory.cold.sql import each, fetch, first, run
from models.cleared_parts import cleared_parts
from models.messages import Image, MessagePart, RecalledSpan, Text

DELETED = "[deleted]"


def blank_recalled(db: apsw.Connection, conversation: int, beside: frozenset[str] = frozenset()) -> list[int]:
    """Blanks copies of the conversation's text in other conversations; returns the seqs of the changed entries.

    `beside` are references of other entries and pages that held its text. The stored requests and epochs of those
    conversations are dropped, so that their next request is counted again. Call it in the transaction that deletes the
    conversation, before its own rows are deleted.
    """
    return _changed(db, conversation, beside, _blanked)


def untitle_recalled(db: apsw.Connection, conversation: int) -> list[int]:
    """Takes the conversation's title from the citations of what was recalled of it, where the title was forgotten;
    returns the seqs of the changed entries."""
    return _changed(db, conversation, frozenset(), _untitled)


def _changed(
    db: apsw.Connection,
    conversation: int,
    beside: frozenset[str],
    change: "Callable[[MessagePart, _ConversationScope], MessagePart]",
) -> list[int]:
    row = first(db, "SELECT id FROM conversations WHERE seq = ?", (conversation,))
    if row is None:
        return []
    twins = first(db, "SELECT 1 FROM conversations WHERE id = ? AND seq <> ?", (row[0], conversation)) is not None
    entries = frozenset(id_ for (id_,) in each(db, "SELECT id FROM entries WHERE conversation = ?", (conversation,)))
    whose = _ConversationScope(
        row[0], entries if twins else None, pages_of(db, conversation), archives_of(db, conversation) | beside
    )
    sql = """SELECT seq, conversation, sent FROM entries WHERE sent IS NOT NULL AND conversation <> ?
             AND (instr(sent, x'226369746174696f6e22') OR instr(sent, x'22696d61676522'))"""  # "citation", "image"
    changed: list[int] = []
    for seq, where, sent in fetch(db, sql, (conversation,)):
        try:
            parts = to_parts(sent)
        except (ValueError, msgspec.MsgspecError):  # a damaged column: `check` names it
            continue
        new = tuple(change(part, whose) for part in parts)
        if new == parts:
            continue
        run(db, "UPDATE entries SET sent = ? WHERE seq = ?", (from_parts(cleared_parts(new)), seq))
        run(db, "DELETE FROM token_counts WHERE entry = ?", (seq,))
        for table in ("requests", "epochs"):
            run(db, f"DELETE FROM {table} WHERE conversation = ?", (where,))
        changed.append(seq)
    seal_rows(db, changed)
    return changed


def archives_of(db: apsw.Connection, conversation: int) -> frozenset[str]:
    """References of the archives made of the conversation: `#3`."""
    return frozenset(
        f"#{seq}" for (seq,) in each(db, "SELECT seq FROM archives WHERE conversation = ?", (conversation,))
    )


def pages_of(db: apsw.Connection, conversation: int) -> frozenset[str]:
    """Ids of the pages of these archives."""
    drawn = "SELECT id FROM pages WHERE archive IN (SELECT seq FROM archives WHERE conversation = ?)"
    return frozenset(id_ for (id_,) in each(db, drawn, (conversation,)))


class _ConversationScope(Struct, frozen=True):
    """Citations that belong to the conversation. `entries` is set if another source's conversation has its id."""

    conversation: str
    entries: frozenset[str] | None
    pages: frozenset[str]
    beside: frozenset[str]

    def has(self, citation: Citation) -> bool:
        if {citation.ref, citation.page} & (self.pages | self.beside):
            return True
        mine = citation.conversation == self.conversation
        return mine and (self.entries is None or citation.ref in self.entries)


def _blanked(part: MessagePart, whose: _ConversationScope) -> MessagePart:
    match part:
        case RecalledSpan(citation=citation) if whose.has(citation):
            bare = structs.replace(citation, title="", speaker="", place="")
            return structs.replace(part, text=DELETED, citation=bare, dates=())
        case Image(name=name) if any(page in name for page in whose.pages):
            return Text(DELETED, injected="attachment")
        case _:
            return part


def _untitled(part: MessagePart, whose: _ConversationScope) -> MessagePart:
    if isinstance(part, RecalledSpan) and whose.has(part.citation):
        return structs.replace(part, citation=structs.replace(part.citation, title=""))
    return part
