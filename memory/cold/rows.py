"""Conversion of rows to structs. A row with a flipped bit is decoded as far as possible and never raises.

Until an answer is settled, its entry's text is that of its chunks.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

import apsw
from msgspec.structs import replace

from foundation.clock import parse_ms
from foundation.privacy import Cleared, as_stored
from foundation.trust import Trust
from memory.cold.encoding import WIDEST, to_meta, to_parts, to_text, unpack, unpack_compared
from memory.cold.integrity import row_seals as sealed
from memory.cold.integrity.row_hashes import seal_of
from memory.cold.integrity.row_seals import CHUNKS
from memory.cold.sql import each
from memory.errors import Damaged
from memory.records import Conversation, Entry, EntryKind
from models.messages import MessagePart, RecalledSpan, Role


def chunk_text(connection: apsw.Connection, seq: int) -> tuple[Cleared, bool]:
    """Text of an answer's chunks, which were cleared when they were stored, and whether all match their seals.

    The text of a settled answer is ""."""
    parts, sound = list[str](), True
    for entry, n, body, seal in each(
        connection, "SELECT entry, n, body, seal FROM chunks WHERE entry = ? ORDER BY n", (seq,)
    ):
        parts.append(to_text(body))
        sound = sound and seal in {None, CHUNKS.seal((entry, n, body))}  # None: written by this very transaction
    return as_stored("".join(parts)), sound


T = TypeVar("T")
_KINDS = {kind.value.encode(): kind for kind in EntryKind}
_ROLES = {role.value.encode(): role for role in Role}
_UNREADABLE = (ValueError, KeyError, OverflowError, OSError, TypeError, RecursionError, Damaged)
"""Errors that a damaged column raises; ValueError: neither UTF-8 nor JSON."""
UNKNOWN = datetime(1970, 1, 1, tzinfo=UTC)  # replaces a time that cannot be read

LARGEST_FIELDS = 32 * 2**20
"""Largest `meta` or `sent` column that is read, in bytes: 0.3.0 stored tool arguments of any size."""


def _unless_large(column: str, and_also: str = "") -> str:
    """SQL: the column, or its size if it is too large to read. SQLite knows sizes without reading the value."""
    return f"iif(octet_length({column}) > {LARGEST_FIELDS}{and_also}, octet_length({column}), {column})"


ENTRY = f"""e.seq, CAST(e.id AS BLOB), CAST(c.id AS BLOB), e.conversation, e.parent, CAST(e.kind AS BLOB),
    CAST(e.role AS BLOB), CAST(e.speaker AS BLOB), e.time_ms,
    {_unless_large("e.body", f" AND octet_length(e.body) > e.chars * {WIDEST}")}, e.packed, e.chars,
    {_unless_large("e.sent")}, {_unless_large("e.meta")}, e.complete, e.sha256,
    (SELECT s.seal FROM seals s WHERE s.entry = e.seq)"""
"""Columns of an entry `e` joined with its conversation `c`, in the order that `entry_of` expects."""

ENTRIES = f"SELECT {ENTRY} FROM entries e JOIN conversations c ON c.seq = e.conversation"

CONVERSATIONS = """SELECT c.seq, CAST(c.id AS BLOB), CAST(c.source AS BLOB), c.title, c.created_ms, c.updated_ms,
    c.leaf, CAST(c.kind AS BLOB), c.seal,
    (SELECT CAST(group_concat(label, char(0)) AS BLOB) FROM labels WHERE conversation = c.seq) FROM conversations c"""


def entry_of(connection: apsw.Connection, row: tuple[Any, ...]) -> Entry:
    """Decodes an entry. An incomplete answer has the text received so far.

    Each read compares the text with its SHA-256 and the row with its seal. `damaged` names the columns that differ:
    `text` if its hash does, `row` if the seal does and no single column shows why. A text that cannot be unpacked is
    None.
    """
    (
        seq,
        id_,
        conversation,
        conversation_seq,
        parent,
        kind,
        role,
        speaker,
        ms,
        body,
        packed,
        chars,
        sent,
        meta,
        whole,
        sha256,
        seal,
    ) = row
    same, large = True, ()
    if _is_size(sent) or _is_size(meta):
        large = tuple(f"large {name}" for name, value in (("sent", sent), ("meta", meta)) if _is_size(value))
        sent, meta = (None if _is_size(value) else value for value in (sent, meta))
    try:
        text, same = (None, True) if body is None else unpack_compared(_whole(body), packed, chars, sha256)
        names = (id_.decode(), conversation.decode(), speaker.decode())
        words, when, parts, rest, damaged = (
            (_KINDS[kind], _ROLES[role]),
            parse_ms(ms),
            to_parts(sent),
            to_meta(meta),
            (),
        )
    except _UNREADABLE:
        look = _RowCheck()
        text = look.at("text", None, lambda: None if body is None else unpack(_whole(body), packed, chars))
        names = (look.name("id", id_), look.name("conversation", conversation), look.name("speaker", speaker))
        words = look.word("kind", kind, _KINDS, EntryKind.MESSAGE), look.word("role", role, _ROLES, Role.USER)
        when = look.at("time", UNKNOWN, lambda: parse_ms(ms))
        parts, rest = look.at("sent", (), lambda: to_parts(sent)), look.at("meta", {}, lambda: to_meta(meta))
        damaged = tuple(look.damaged)
    damaged = (*damaged, *large)
    sealed = (conversation_seq, id_, parent, kind, role, speaker, ms, chars, sha256, sent, meta, whole)
    in_flight = not whole and text == ""
    if not same and not in_flight and "text" not in damaged:
        damaged = (*damaged, "text")
    if seal_of(sealed) != seal:
        damaged = damaged or ("row",)
        parts = tuple(map(_doubted, parts))
    if in_flight:
        text, same = chunk_text(connection, seq)
        chars = len(text)
        damaged = damaged if same else (*damaged, "text")
    return Entry(
        seq=seq,
        id=names[0],
        conversation=names[1],
        conversation_seq=conversation_seq,
        parent=parent,
        kind=words[0],
        role=words[1],
        speaker=names[2],
        time=when,
        text=text,
        chars=chars,
        sent=parts,
        meta=rest,
        complete=bool(whole),
        damaged=damaged,
    )


def _is_size(value: object) -> bool:
    """Whether the column holds the size of a value that is too large to read."""
    return isinstance(value, int)


def _whole(body: bytes | int) -> bytes:
    """The body. Raises Damaged if it has more bytes than its characters can take."""
    if isinstance(body, int):
        raise Damaged("Damaged text", f"A stored text has {body:,} bytes, more than its characters can take.")
    return body


def _doubted(part: MessagePart) -> MessagePart:
    """The part, with a recalled span of a damaged row marked as approximate."""
    return replace(part, trust=Trust.APPROXIMATE) if isinstance(part, RecalledSpan) else part


class _RowCheck:
    """Decodes a row column by column, and collects the names of damaged columns."""

    def __init__(self) -> None:
        self.damaged: list[str] = []

    def at(self, column: str, instead: T, read: Callable[[], T]) -> T:
        try:
            return read()
        except _UNREADABLE:
            self.damaged.append(column)
            return instead

    def name(self, column: str, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.damaged.append(column)
            return raw.decode("utf-8", "replace")

    def word(self, column: str, raw: bytes, known: Mapping[bytes, T], otherwise: T) -> T:
        """The value of an enum column; of a damaged one, the value of its length that the fewest bits differ from."""
        if (found := known.get(raw)) is not None:
            return found
        self.damaged.append(column)
        same_length = [value for value in known if len(value) == len(raw)]
        return known[min(same_length, key=lambda value: _bit_distance(raw, value))] if same_length else otherwise


def _bit_distance(left: bytes, other: bytes) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(left, other, strict=True))


def entries_of(connection: apsw.Connection, rows: Iterable[tuple[Any, ...]]) -> list[Entry]:
    """Decodes the rows of several entries."""
    return [entry_of(connection, row) for row in rows]


def conversation_of(row: tuple[Any, ...]) -> Conversation:
    """Decodes a conversation, and compares its row with its seal."""
    seq, id_, source, title, created, updated, leaf, kind, seal, labels = row
    look = _RowCheck()
    sound = seal in {None, sealed.CONVERSATIONS.seal((seq, source, id_, title, created, kind))}  # None: not committed
    return Conversation(
        id=look.name("id", id_),
        seq=seq,
        source=look.name("source", source),
        title=look.at("title", title.decode("utf-8", "replace"), lambda: to_text(title)),
        created=look.at("created", UNKNOWN, lambda: parse_ms(created)),
        updated=look.at("updated", UNKNOWN, lambda: parse_ms(updated)),
        leaf=leaf,
        kind=look.name("kind", kind),
        labels=tuple(sorted(look.name("label", one) for one in labels.split(b"\0"))) if labels else (),
        damaged=not sound or bool(look.damaged),
    )
