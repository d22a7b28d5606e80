"""Live search: the rows for the words in the search field, and the context of a passage."""

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services.browse import BrowsePage, BrowseRow, of_hit, of_passage
from agent.services.filter_syntax import ParsedFilters, query_of, worded
from agent.services.locate import TALK
from context.pages.lookup import by_reference
from foundation.citations import PLACE, REFERENCE, citation
from foundation.errors import Misuse, PalimpsestError
from foundation.files import read_bytes, real_within
from foundation.trust import Trust
from memory.errors import MemoryFailure, NotFound
from models.messages import Role

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.records import Entry

ROWS: Final = 30  # looked for at once: more than a screen holds
NEAR: Final = 2  # turns before a passage, and after it
LONGEST: Final = 400  # characters of each
BESIDE: Final = 300  # characters of the passage itself, before its snippet and after it
LIKE: Final = 5  # passages that say the same, named one by one

_REFERENCE: Final = re.compile(rf"(?:{REFERENCE}|#\d+|{PLACE})\Z")


class UnreadableSource(PalimpsestError):
    """A file of the workspace that cannot be read."""

    code = "unreadable"


class NearbyTurn(Struct, frozen=True, kw_only=True):
    """What someone said near a passage, or what says the same as it; `text` may be cut to LONGEST characters."""

    id: str
    who: str = ""
    title: str = ""  # of its conversation, where that is another one
    time: datetime | None = None
    text: str


class PassageContext(Struct, frozen=True, kw_only=True):
    """What stands around a passage. `lead` and `rest` are of the passage itself, before its snippet and after it."""

    before: tuple[NearbyTurn, ...] = ()
    lead: str = ""
    rest: str = ""
    after: tuple[NearbyTurn, ...] = ()
    like: tuple[NearbyTurn, ...] = ()
    newer: NearbyTurn | None = None  # what it was superseded by


class NoteInFile(Struct, frozen=True):
    """The file that a note stands in, as it is now: its path within the workspace, its text, the note's lines."""

    path: str
    text: str
    first: int
    last: int


def seek(memory: "Memory", typed: str, number: int = 1, *, explain: bool = False) -> BrowsePage:
    """The rows of page `number` for what was typed, filters and all; "" lists what is newest.

    Blocks. A filter that cannot be is told in `wrong`. Raises Damaged, and what else the store raises.
    """
    began = time.monotonic()
    wording = worded(typed)
    try:
        if number == 1 and not wording.narrowed and (found := _named(memory, wording.text)):
            return BrowsePage(rows=found, total=len(found), took_ms=(time.monotonic() - began) * 1000)
        query = query_of(wording, memory.search.clock, limit=ROWS, page=number, explain=explain)
        results = memory.search.query(query)
    except (Misuse, NotFound) as error:
        return BrowsePage(wrong=f"{error.message} {error.hint}".replace("--", "").strip())
    rows = tuple(of_hit(hit) for hit in results.hits)
    damaged = tuple(memory.vault.troubles())
    reading = _share_read(memory) if results.partial else None
    return BrowsePage(
        rows=rows,
        total=results.total,
        next=results.next,
        took_ms=results.took_ms,
        damaged=damaged,
        reading=reading,
        anchor=results.anchor,
        told=memory.search.vectors.trouble,
        sure=results.found or not results.hits,
    )


def _share_read(memory: "Memory") -> float:
    """Of the index that is being built."""
    building = memory.search.building
    return min(building.done / max(building.total, 1), 1.0) if building else 1.0


def nothing(typed: str) -> str:
    """What is said where nothing was found: what might help, in a sentence."""
    wording = worded(typed)
    if not wording.text:
        if wording.narrowed:
            return "Nothing is remembered that these filters leave. Take one away, or widen it."
        return "Nothing is remembered yet. What is said here, what stands in MEMORY.md, and what you archive will be."
    return f"Nothing is remembered about “{wording.text}”. {_advice(wording)}"


def around(memory: "Memory", row: BrowseRow) -> PassageContext:
    """What stands around a row's passage. Blocks. What is damaged or gone is left out."""
    like = tuple(turn for twin in row.like[:LIKE] if (turn := _turn_of(memory, twin)))
    newer = _turn_of(memory, row.superseded_by) if row.superseded_by else None
    if row.entry is None:
        return PassageContext(like=like, newer=newer)
    try:
        near = memory.conversations.neighbours(row.entry, NEAR, NEAR)
    except MemoryFailure:
        return PassageContext(like=like, newer=newer)
    before = tuple(_turn(memory, entry, end=True) for entry in near if entry.seq < row.entry)
    after = tuple(_turn(memory, entry) for entry in near if entry.seq > row.entry)
    whole = next((_words(memory, entry) for entry in near if entry.seq == row.entry), "")
    start, end = row.span
    if whole[start:end] != row.snippet:  # what was looked up by its id has no span
        return PassageContext(before=before, after=after, like=like, newer=newer)
    lead, rest = whole[max(start - BESIDE, 0) : start], whole[end : end + BESIDE]
    return PassageContext(before=before, lead=lead, rest=rest, after=after, like=like, newer=newer)


def note_in_file(memory: "Memory", row: BrowseRow) -> NoteInFile:
    """Blocks. Raises NotFound where the note is gone, UnreadableSource where its file cannot be read."""
    memory.hot.look()
    note = memory.hot.note(row.id)
    try:
        path = real_within(memory.workspace.root / note.path, memory.workspace.root)
        text = read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError as error:
        raise UnreadableSource("It cannot be read", f"{note.path}: {error.strerror}.", "") from error
    return NoteInFile(note.path, text, note.line_first, note.line_last)


def entry_of(memory: "Memory", row: BrowseRow) -> int | None:
    """The seq of the entry to go to; None where a row is of no conversation that one can be in.

    Blocks. Raises NotFound where it is gone.
    """
    entry = memory.conversations.entry(row.entry) if row.entry is not None else memory.conversations.find_entry(row.id)
    return entry.seq if memory.conversations.at(entry.conversation_seq).kind == TALK else None


def values_of(name: str) -> str:
    """What may stand after `name:`, in a line; "" where it may be anything."""
    from memory.search.query.query import KINDS

    known = {
        "kind": ("note", *(kind for kind in KINDS if kind != "memory")),
        "role": tuple(Role),
        "trust": tuple(Trust),
        **dict.fromkeys(("since", "after", "until", "before"), ("30d", "yesterday", "2026-03-01")),
    }
    return f"{name}: {', '.join(known[name])}" if name in known else ""


def _named(memory: "Memory", text: str) -> tuple[BrowseRow, ...]:
    """The rows that an id, a number, a place or a citation names; () for words, which are a question."""
    if not citation(text) and not _REFERENCE.match(text):
        return ()
    try:
        return tuple(of_passage(found) for found in by_reference(memory, text))
    except NotFound:  # being typed, or only looking like one
        return ()


def _advice(wording: ParsedFilters) -> str:
    if wording.narrowed:
        return "There may be something without the filters."
    if '"' in wording.text:
        return "Without the quotes, words in any order are found."
    if len(wording.text.split()) > 3:
        return "Fewer words may find it."
    return "Another word for it may find it; so does a person, a day or a file: who:Anna since:30d file:a.py"


def _turn_of(memory: "Memory", id: str) -> NearbyTurn | None:  # noqa: A002 — the word the whole program uses
    """The passage with that id; None where it is gone."""
    try:
        if id.startswith("m_"):
            note = memory.hot.note(id)
            return NearbyTurn(id=id, title=note.ref, time=note.time, text=note.text[:LONGEST])
        entry = memory.conversations.find_entry(id)
        title = memory.conversations.at(entry.conversation_seq).title
    except MemoryFailure:
        return None
    return NearbyTurn(id=id, who=entry.said_by, title=title, time=entry.time, text=_words(memory, entry)[:LONGEST])


def _turn(memory: "Memory", entry: "Entry", *, end: bool = False) -> NearbyTurn:
    """`end`: of a long one its last words rather than its first."""
    text = _words(memory, entry)
    cut = text[-LONGEST:] if end else text[:LONGEST]
    if len(cut) < len(text):
        cut = f"… {cut}" if end else f"{cut} …"
    return NearbyTurn(id=entry.id, who=entry.said_by, time=entry.time, text=cut)


def _words(memory: "Memory", entry: "Entry") -> str:
    try:
        return memory.passage(entry).text
    except MemoryFailure as error:
        return f"[lost: {error.message}]"
