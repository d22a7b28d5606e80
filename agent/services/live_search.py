"""Live search: the rows for the text in the search field, and the context of a passage."""

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from agent.services.browse import BrowsePage, BrowseRow, hit_row, passage_row
from agent.services.filter_syntax import ParsedFilters, build_query, parse_filters
from agent.services.images import is_picture
from agent.services.locate import CHAT_KIND
from agent.services.recall import NO_TEXT, recall_picture, verified
from context.pages.lookup import by_reference
from foundation.citations import PLACE, REFERENCE, single_citation
from foundation.errors import Misuse, PalimpsestError
from foundation.files import read_bytes, resolve_within
from foundation.paths import expand_home
from foundation.trust import Trust
from memory.errors import MemoryFailure, NotFound
from memory.hot import Note
from memory.records import Entry
from memory.search.query.query import KINDS
from models.messages import Role

if TYPE_CHECKING:
    from memory.memory import Memory
    from memory.recalled_passage import RecalledPassage

ROWS: Final = 30  # a page of results: more than a screen holds
CONTEXT_TURNS: Final = 2  # turns before a passage, and as many after it
MAX_TURN_CHARS: Final = 400  # characters of each
PASSAGE_MARGIN: Final = 300  # characters of the passage itself, before its snippet and after it
MAX_DUPLICATES: Final = 5  # duplicates that are listed

_REFERENCE: Final = re.compile(rf"(?:{REFERENCE}|#\d+|{PLACE})\Z")


class UnreadableSource(PalimpsestError):
    """A file of the workspace that cannot be read."""

    code = "unreadable"


class NearbyTurn(Struct, frozen=True, kw_only=True):
    """A turn near a passage, or a duplicate of it; `text` is cut to MAX_TURN_CHARS characters."""

    id: str
    who: str = ""
    title: str = ""  # of its conversation, where that is a different one
    time: datetime | None = None
    text: str


class PassageContext(Struct, frozen=True, kw_only=True):
    """The turns around a passage. `lead` and `rest` are the passage's own text before and after its snippet,
    with `…` where more is left out.
    """

    before: tuple[NearbyTurn, ...] = ()
    lead: str = ""
    rest: str = ""
    after: tuple[NearbyTurn, ...] = ()
    duplicates: tuple[NearbyTurn, ...] = ()
    newer: NearbyTurn | None = None  # the passage that supersedes it


class NoteInFile(Struct, frozen=True):
    """A note's file: its path within the workspace, its present text, the note's first and last line (from 1)."""

    path: str
    text: str
    first: int
    last: int


def find_rows(memory: "Memory", typed: str, page: int = 1, *, explain: bool = False) -> BrowsePage:
    """One page of rows for a query with its filters, a reference or a picture's path; "" lists the newest entries.

    What an archive's label or an imported id names comes before the hits of the same words. Blocks. An invalid filter
    is reported in `error`, a reference to nothing in `warning`. Raises Damaged, NotAPage, and errors of the store.
    """
    began = time.monotonic()
    parsed = parse_filters(typed)
    named = _Named()
    try:
        if page == 1 and typed.strip() and not parsed.narrowed:
            named = _named(memory, typed.strip())
            if named.error or (named.rows and named.is_reference):
                took_ms = (time.monotonic() - began) * 1000
                return BrowsePage(rows=named.rows, total=len(named.rows), took_ms=took_ms, error=named.error)
        query = build_query(parsed, memory.search.clock, limit=ROWS, page=page, explain=explain)
        results = memory.search.query(query)
    except (Misuse, NotFound) as error:
        return BrowsePage(error=f"{error.message} {error.hint}".replace("--", "").strip())
    keys = {row.id for row in named.rows} | {page for row in named.rows for page in _only_page(row)}
    rows = (*named.rows, *(row for row in map(hit_row, results.hits) if row.id not in keys))
    damaged = tuple(memory.vault.troubles())
    indexed = _share_read(memory) if results.partial else None
    return BrowsePage(
        rows=rows,
        total=results.total + len(rows) - len(results.hits),
        next=results.next,
        took_ms=results.took_ms,
        damaged=damaged,
        indexed=indexed,
        anchor=results.anchor,
        warning=memory.search.vectors.trouble or ("" if rows and not named.is_reference else named.missing),
        likely=results.found or not results.hits or bool(named.rows),
    )


def _share_read(memory: "Memory") -> float:
    """The share of the index that is built."""
    building = memory.search.building
    return min(building.done / max(building.total, 1), 1.0) if building else 1.0


def no_results_message(typed: str) -> str:
    """The message for an empty result, with advice."""
    parsed = parse_filters(typed)
    if not parsed.text:
        if parsed.narrowed:
            return "No results with these filters. Remove or widen one."
        return "Memory is empty. Conversations, MEMORY.md and archives will appear here."
    return f"No results for “{parsed.text}”. {_advice(parsed)}"


def passage_context(memory: "Memory", row: BrowseRow) -> PassageContext:
    """The context of a row's passage. Blocks. Damaged and deleted turns are left out."""
    duplicates = tuple(turn for id_ in row.duplicates[:MAX_DUPLICATES] if (turn := _turn_of_reference(memory, id_)))
    newer = _turn_of_reference(memory, row.superseded_by) if row.superseded_by else None
    if row.entry is None:
        lead, rest = _around(_note_text(memory, row), row)
        return PassageContext(lead=lead, rest=rest, duplicates=duplicates, newer=newer)
    try:
        neighbours = memory.conversations.neighbours(row.entry, CONTEXT_TURNS, CONTEXT_TURNS)
    except MemoryFailure:
        return PassageContext(duplicates=duplicates, newer=newer)
    before = tuple(_turn(memory, entry, end=True) for entry in neighbours if entry.seq < row.entry)
    after = tuple(_turn(memory, entry) for entry in neighbours if entry.seq > row.entry)
    text = next((_text(memory, entry) for entry in neighbours if entry.seq == row.entry), "")
    lead, rest = _around(text, row)
    return PassageContext(before=before, lead=lead, rest=rest, after=after, duplicates=duplicates, newer=newer)


def _around(text: str, row: BrowseRow) -> tuple[str, str]:
    """The passage's text before and after the row's snippet, with `…` where more of it is left out."""
    start, end = row.span
    if text[start:end] != row.snippet:  # a row found by its id has no span
        return "", ""
    lead, rest = text[max(start - PASSAGE_MARGIN, 0) : start], text[end : end + PASSAGE_MARGIN]
    return (
        f"… {lead}" if start > PASSAGE_MARGIN else lead,
        f"{rest} …" if end + PASSAGE_MARGIN < len(text) else rest,
    )


def _note_text(memory: "Memory", row: BrowseRow) -> str:
    try:
        return memory.hot.note(row.id).text
    except MemoryFailure:  # deleted meanwhile
        return ""


def note_in_file(memory: "Memory", row: BrowseRow) -> NoteInFile:
    """The file of a row's note. Blocks. Raises NotFound for a deleted note, UnreadableSource for an unreadable file."""
    memory.hot.look()
    note = memory.hot.note(row.id)
    try:
        path = resolve_within(memory.workspace.root / note.path, memory.workspace.root)
        text = read_bytes(path).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError as error:
        raise UnreadableSource("It cannot be read", f"{note.path}: {error.strerror}.", "") from error
    return NoteInFile(note.path, text, note.line_first, note.line_last)


def entry_of(memory: "Memory", row: BrowseRow) -> int | None:
    """The seq of a row's entry; None where its conversation is not a chat.

    Blocks. Raises NotFound where it was deleted.
    """
    entry = memory.conversations.entry(row.entry) if row.entry is not None else memory.conversations.find_entry(row.id)
    return entry.seq if memory.conversations.at(entry.conversation_seq).kind == CHAT_KIND else None


def filter_values(name: str) -> str:
    """The values of filter `name`, in a line; "" where any value is allowed."""
    values = {
        "kind": ("note", *(kind for kind in KINDS if kind != "memory")),
        "role": tuple(Role),
        "trust": tuple(Trust),
        **dict.fromkeys(("since", "after", "until", "before"), ("30d", "yesterday", "2026-03-01")),
    }
    return f"{name}: {', '.join(values[name])}" if name in values else ""


class _Named(Struct, frozen=True):
    """What the text names. `is_reference`: it has the form of one, and is not searched for as words. `missing` says why
    it names nothing."""

    rows: tuple[BrowseRow, ...] = ()
    is_reference: bool = False
    error: str = ""
    missing: str = ""


def _named(memory: "Memory", text: str) -> _Named:
    """The rows of a picture, a citation, an id, a number, a file line or an archive's label."""
    if (passages := _in_picture(memory, text)) is not None:
        return _Named(tuple(map(passage_row, passages)), True, "" if passages else NO_TEXT)
    is_reference = bool(single_citation(text) or _REFERENCE.match(text))
    try:
        return _Named(tuple(map(passage_row, by_reference(memory, text))), is_reference)
    except NotFound as error:  # still being typed, or no reference after all
        return _Named(is_reference=is_reference, missing=error.message)
    except MemoryFailure:
        if is_reference:
            raise
        return _Named()  # the words are searched for; the search reports what is damaged


def _only_page(row: BrowseRow) -> tuple[str, ...]:
    """The page of an archive that has one: its hit would say the same."""
    return row.passage.pages if row.passage and len(row.passage.pages) == 1 else ()


def _in_picture(memory: "Memory", text: str) -> "tuple[RecalledPassage, ...] | None":
    """Passages read from the picture at that path; None where there is no such picture."""
    try:
        path = expand_home(text)
        is_file = path.is_file() and is_picture(str(path))
    except (OSError, RuntimeError, ValueError):  # no valid file name
        return None
    return verified(recall_picture(path), memory).hits if is_file else None


def _advice(parsed: ParsedFilters) -> str:
    if parsed.narrowed:
        return "Try without the filters."
    if '"' in parsed.text:
        return "Without the quotes, words match in any order."
    if len(parsed.text.split()) > 3:
        return "Try fewer words."
    return "Try another word, or a person, day or file: who:Anna since:30d file:a.py"


def _turn_of_reference(memory: "Memory", ref: str) -> NearbyTurn | None:
    """The entry or note of that id; None where it was deleted, or where several conversations have the id."""
    try:
        match memory.references.find(ref):
            case (Note() as note,):
                return NearbyTurn(id=ref, title=note.ref, time=note.time, text=note.text[:MAX_TURN_CHARS])
            case (Entry() as entry,):
                title = memory.conversations.at(entry.conversation_seq).title
            case _:
                return None
    except MemoryFailure:
        return None
    return NearbyTurn(
        id=ref, who=entry.said_by, title=title, time=entry.time, text=_text(memory, entry)[:MAX_TURN_CHARS]
    )


def _turn(memory: "Memory", entry: Entry, *, end: bool = False) -> NearbyTurn:
    """The turn of an entry. `end`: a long one is cut at its start."""
    text = _text(memory, entry)
    cut = text[-MAX_TURN_CHARS:] if end else text[:MAX_TURN_CHARS]
    if len(cut) < len(text):
        cut = f"… {cut}" if end else f"{cut} …"
    return NearbyTurn(id=entry.id, who=entry.said_by, time=entry.time, text=cut)


def _text(memory: "Memory", entry: Entry) -> str:
    try:
        return memory.passage(entry).text
    except MemoryFailure as error:
        return f"[lost: {error.message}]"
