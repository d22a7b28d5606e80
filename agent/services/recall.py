"""Passages brought back whole: from a page's picture alone, by a reference, or by a question."""

import time
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agent.services.images import OUR_READERS, OpenEngine, is_picture, read_file
from agent.services.pages import stored_page
from foundation.terminal_text import hidden_count
from foundation.trust import Citation, Trust
from memory.errors import NotFound
from memory.pages.read.attribution import AttributedText, spoken
from memory.pages.types import PageText

if TYPE_CHECKING:  # a picture is read without a workspace
    from memory.hot import Note
    from memory.memory import Memory
    from memory.pages.read.ocr.lines import OnLine
    from memory.pages.read.reader import OnStage
    from memory.records import Entry
    from memory.search import Hit

STORED = "stored"
"""The engine of a passage that was never let go: it stands in the store as text."""
NOT_KNOWN = "This page is not known here: nothing vouches for where it comes from."
"""What is said of a page's picture whose id the workspace does not have, and outside of any workspace."""
NO_TEXT = "No text was found in it."
"""What is said of a picture without words."""


class RecalledHit(Struct, frozen=True, kw_only=True):
    """One whole passage, unaltered, with what a `recall` hit says of it."""

    id: str
    kind: str
    conversation: str | None = None
    entry: str | None = None
    time: datetime | None = None
    role: str | None = None
    speaker: str | None = None
    score: float = 1.0
    snippet: str = ""
    citation: str
    trust: Trust
    text: str
    engine: str = STORED
    read_ms: float = 0.0
    doubt: tuple[int, ...] = ()
    pages: tuple[str, ...] = ()  # ids of the pages that it was read from
    passages: tuple[AttributedText, ...] = ()  # of a conversation's page: whose words stand where
    told: tuple[str, ...] = ()  # sentences of the readers


class RecallResult(Struct, frozen=True, kw_only=True):
    """What was found; the contract's object for `recall`."""

    query: str
    took_ms: float
    found: bool
    total: int
    next: int | None
    hits: tuple[RecalledHit, ...]


def recall_picture(
    path: Path,
    *,
    engine: str = "auto",
    open_engine: OpenEngine | None = None,
    on_line: "OnLine | None" = None,
    on_stage: "OnStage | None" = None,
) -> RecallResult:
    """What stands in a picture; nothing is found where no text is in it. Needs no workspace, no name, no original.

    `engine` is a name of memory.pages.read.reader.READERS. Raises NotAPage, NotFound, and what the engine raises.
    """
    began = time.monotonic()
    page = read_file(path, engine=engine, open_engine=open_engine, on_line=on_line, on_stage=on_stage)
    if not page.text.strip() and not page.page_id:
        return _these(str(path), began, ())
    kind = "page" if page.page_id or page.engine in OUR_READERS else "file"
    citation = Citation(kind=kind, ref=page.page_id or path.name, page=page.page_id)
    return _these(str(path), began, (_of_page(page, citation),))


def compared(found: RecallResult, memory: "Memory | None") -> RecallResult:
    """What was read from pictures, with what the workspace knows of these pages; `memory` None where there is none.

    A page's hash proves that its pixels are as they were drawn, not who drew them. One of a known id with another text
    is not to be trusted to the letter; of one that is not known here, that is said.
    """
    return replace(found, hits=tuple(_compared(hit, memory) if hit.kind == "page" else hit for hit in found.hits))


def _compared(hit: RecalledHit, memory: "Memory | None") -> RecalledHit:
    if not hit.id:
        return hit
    if memory is None or not memory.vault.knows(hit.id):
        return replace(hit, told=(*hit.told, NOT_KNOWN))
    if not memory.vault.contradicts(hit.id, hit.text):
        return hit
    told = f"This workspace has a page {hit.id} with another text: the picture was altered, or is not that page."
    every_line = tuple(range(1, hit.text.count("\n") + 2))
    return replace(hit, trust=Trust.APPROXIMATE, doubt=every_line, told=(*hit.told, told))


def together(asked: Sequence[str], found: Sequence[RecallResult]) -> RecallResult:
    """Several pictures' texts, or what several references name, as one answer, in order."""
    hits = tuple(hit for one in found for hit in one.hits)
    took = round(sum(one.took_ms for one in found), 3)
    return RecallResult(query=" ".join(asked), took_ms=took, found=bool(hits), total=len(hits), next=None, hits=hits)


def recall(memory: "Memory", asked: str, *, limit: int = 5, page: int = 1, conversation: str = "") -> RecallResult:
    """By reference (an entry's id, `pg_…`, `m_…`, `MEMORY.md#L3-L7`, an archive's label or `#1`), else what a question
    finds.

    `conversation` (an id or a title) keeps to one. Raises NotFound for a reference of ours that nothing has.
    """
    began = time.monotonic()
    if (named := found_by(memory, asked, conversation)).found:
        return named
    from memory.search import Query

    results = memory.search.query(Query(text=asked, limit=limit, page=page, conversation=conversation))
    hits = tuple(_of_hit(memory, hit) for hit in results.hits)
    return RecallResult(
        query=asked, took_ms=_since(began), found=results.found, total=results.total, next=results.next, hits=hits
    )


def found_by(memory: "Memory", reference: str, conversation: str = "") -> RecallResult:
    """What a reference names, as `by_reference`; nothing is found where it is none."""
    began = time.monotonic()
    return _these(reference, began, by_reference(memory, reference, conversation))


def recall_markdown(memory: "Memory", asked: str) -> str:
    """`/recall`, answered: each passage under its citation."""
    picture = is_picture(asked)
    found = compared(recall_picture(Path(asked)), memory) if picture else recall(memory, asked, limit=3)
    if picture and not found.hits:
        return NO_TEXT
    if not found.hits:
        return f"Nothing is remembered about “{asked}”."
    return "\n\n".join(_as_markdown(hit) for hit in found.hits)


def _as_markdown(hit: RecalledHit) -> str:
    return "\n\n".join(
        [f"**{hit.citation}** · {describe(hit)}", *hit.told, *filter(None, [shown_otherwise(hit)]), _fenced(hit.text)]
    )


def describe(hit: RecalledHit) -> str:
    """How far to trust it and how it was read: `exact, read from its pixels in 2.1 ms`."""
    reader = "from its pixels" if hit.engine == "cells" else f"by {hit.engine}"
    how = f"read {reader} in {hit.read_ms:,.1f} ms"
    if hit.engine == STORED:
        how = "as it was stored" if hit.trust is Trust.EXACT else "from the store"
    doubt = f"; lines in doubt: {_lines(hit.doubt)}" if hit.doubt else ""
    return f"{hit.trust.value}, {how}{doubt}"


def shown_otherwise(hit: RecalledHit) -> str:
    """That the text is not shown to the byte, because characters of it were made visible; "" where it is."""
    count = hidden_count(hit.text)
    if not count:
        return ""
    what = "1 control or hidden character is" if count == 1 else f"{count:,} control or hidden characters are"
    return f"Not shown to the byte: {what} a sign here. `palimpsest recall … --raw` gives every byte."


def citations(hit: RecalledHit) -> tuple[Citation, ...]:
    """Where each entry's words on a conversation's page come from: the entry and its lines."""
    return tuple(
        Citation(
            kind="entry", ref=one.entry, speaker=one.speaker or one.role, time=one.time, page=hit.id, lines=one.lines
        )
        for one in hit.passages
    )


def by_reference(memory: "Memory", asked: str, conversation: str = "") -> tuple[RecalledHit, ...]:
    """What an id, a place or an archive's label names, whole; nothing where the words are a question.

    Raises NotFound, Damaged.
    """
    from memory.archive.rows.archives import page_label_doubts

    if asked.startswith("pg_") and not any(letter.isspace() for letter in asked):
        page = stored_page(memory, asked)
        hit = _of_page(page, Citation(kind="page", ref=asked, title=page.label, page=asked))
        return (_doubted(hit, memory.cold.read(lambda db: page_label_doubts(db, asked))),)
    if not conversation and (archive := recalled_archive(memory, asked)) is not None:
        return (archive,)
    if any(letter.isspace() for letter in asked):
        return ()
    memory.hot.look()  # a note is quoted as its file has it now
    if asked.startswith("m_"):
        return (_of_note(memory.hot.note(asked)),)
    if "#L" in asked:
        return tuple(_of_note(note) for note in memory.hot.notes() if _covers(note, asked))
    within = memory.cold.conversation(conversation).seq if conversation else None
    return _of_entries(memory, asked, within)


def recalled_archive(memory: "Memory", asked: str) -> RecalledHit | None:
    """All that was archived under that label (of several the newest) or number (`#1`): its pages' texts, joined.

    It is trusted as far as the least of its pages. None where no archive has that label, or it has no page of its own.
    Raises NotFound for a number that no archive has, Damaged.
    """
    from memory.archive.rows.archives import label_doubts

    numbered = asked.startswith("#") and asked[1:].isdecimal()
    try:
        row = memory.vault.find_archive(asked)
    except NotFound:
        if numbered:
            raise
        return None
    if not row.pages or not (numbered or row.label == asked):
        return None
    pages = [memory.vault.read_page(page.id) for page in memory.vault.pages(row.seq)]
    text = "".join(page.text for page in pages)
    count = f"{len(pages):,} page{'s' if len(pages) > 1 else ''}"
    citation = Citation(kind="archive", ref=f"#{row.seq}", title=row.label, place=count, time=row.created)
    lines_before = accumulate((page.text.count("\n") for page in pages), initial=0)
    whole = RecalledHit(
        id=f"#{row.seq}",
        kind="archive",
        time=row.created,
        citation=str(citation),
        text=text,
        snippet=_snippet(text),
        trust=max((page.trust for page in pages), key=list(Trust).index),
        engine="+".join(dict.fromkeys(page.engine for page in pages)),
        read_ms=round(sum(page.read_ms for page in pages), 3),
        doubt=tuple(before + n for before, page in zip(lines_before, pages, strict=False) for n in page.doubt),
        pages=tuple(page.page_id for page in pages),
        passages=tuple(one for page in pages for one in spoken(page)),
    )
    return _doubted(whole, memory.cold.read(lambda db: label_doubts(db, row.seq)))


def _doubted(hit: RecalledHit, doubts: tuple[str, ...]) -> RecalledHit:
    """The same, not to be trusted to the letter where there are doubts."""
    return replace(hit, trust=Trust.APPROXIMATE, told=(*hit.told, *doubts)) if doubts else hit


def _of_entries(memory: "Memory", ref: str, within: int | None) -> tuple[RecalledHit, ...]:
    """The entries of exactly this id: several where an import brought the same ids in several conversations.

    What looks like an id of ours may be the beginning of one, and is an error where there is none; another word that
    is no id is a question.
    """
    from memory.cold.sql import fetch

    sql = "SELECT seq FROM entries WHERE id = ?1 AND (?2 IS NULL OR conversation = ?2) ORDER BY seq LIMIT 50"
    rows = memory.cold.read(lambda db: fetch(db, sql, (ref, within)))
    if rows:
        return tuple(_of_entry(memory, memory.cold.entry(seq)) for (seq,) in rows)
    return (_of_entry(memory, memory.cold.find(ref)),) if ref.startswith("e_") else ()


def _of_entry(memory: "Memory", entry: "Entry") -> RecalledHit:
    began = time.monotonic()
    passage = memory.passage(entry)
    took = _since(began) if passage.pages else 0.0
    conversation = memory.cold.conversation_at(entry.conversation_seq)
    told = (*passage.told, *conversation.doubts)
    citation = Citation(
        kind="entry",
        ref=entry.id,
        title=conversation.title,
        conversation=entry.conversation,
        speaker=entry.said_by,
        time=entry.time,
        page=passage.pages[0] if passage.pages else "",
    )
    return RecalledHit(
        id=entry.id,
        kind=entry.kind.value,
        conversation=entry.conversation,
        entry=entry.id,
        time=entry.time,
        role=entry.role.value,
        speaker=entry.speaker,
        citation=str(citation),
        text=passage.text,
        trust=Trust.APPROXIMATE if told else passage.trust,
        told=told,
        snippet=_snippet(passage.text),
        engine=_engine(passage.pages),
        read_ms=took,
        pages=passage.pages,
    )


def _of_hit(memory: "Memory", hit: "Hit") -> RecalledHit:
    began = time.monotonic()
    text, trust, pages, told = hit.snippet, hit.trust, tuple[str, ...](), tuple[str, ...]()
    if hit.note is not None:
        text, trust = _note_now(memory, hit)
    elif hit.entry is not None:
        passage = memory.passage(memory.cold.entry(hit.entry))
        text, pages, told = passage.text, passage.pages, passage.told
        trust = passage.trust if hit.trust is Trust.EXACT else hit.trust  # an OCR engine's word stays approximate
    return RecalledHit(
        id=hit.id,
        kind=hit.kind,
        conversation=hit.conversation or None,
        entry=hit.entry_id or None,
        time=hit.time,
        role=hit.role or None,
        speaker=hit.speaker or None,
        score=round(hit.score, 4),
        snippet=hit.snippet,
        citation=str(hit.citation),
        trust=trust,
        text=text,
        engine=_engine(pages),
        read_ms=_since(began) if pages else 0.0,
        pages=pages,
        told=told,
    )


def _note_now(memory: "Memory", hit: "Hit") -> tuple[str, Trust]:
    """The note's text as its file has it now; what was found of it, no longer exact, where the note is gone."""
    from memory.hot import NoSuchNote

    memory.hot.look()
    try:
        return memory.hot.note(hit.note or "").text, Trust.EXACT
    except NoSuchNote:
        return hit.snippet, Trust.APPROXIMATE


def _of_page(page: PageText, citation: Citation) -> RecalledHit:
    return RecalledHit(
        id=page.page_id,
        kind=citation.kind,
        citation=str(citation),
        trust=page.trust,
        text=page.text,
        snippet=_snippet(page.text),
        engine=page.engine,
        read_ms=page.read_ms,
        doubt=page.doubt,
        passages=spoken(page),
        told=page.told,
        pages=(page.page_id,) if page.page_id else (),
    )


def _of_note(note: "Note") -> RecalledHit:
    lines = (note.line_first, note.line_last)
    citation = Citation(kind="memory", ref=note.path, title=note.heading, time=note.time, lines=lines)
    return RecalledHit(
        id=note.id,
        kind="memory",
        conversation=note.conversation,
        time=note.time,
        citation=str(citation),
        trust=Trust.EXACT,
        text=note.text,
        snippet=_snippet(note.text),
    )


def _covers(note: "Note", asked: str) -> bool:
    path, _, lines = asked.rpartition("#L")
    first = lines.partition("-")[0]
    return note.path == path and first.isdigit() and note.line_first <= int(first) <= note.line_last


def _these(asked: str, began: float, hits: tuple[RecalledHit, ...]) -> RecallResult:
    return RecallResult(query=asked, took_ms=_since(began), found=bool(hits), total=len(hits), next=None, hits=hits)


def _engine(pages: Sequence[str]) -> str:
    return "cells" if pages else STORED


def _since(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 3)


def _snippet(text: str) -> str:
    return text if len(text) <= 400 else text[:400].rsplit(" ", 1)[0] + "…"


def _lines(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:12])
    return shown + (f" and {len(numbers) - 12} more" if len(numbers) > 12 else "")


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"


def as_object(found: RecallResult) -> dict[str, Any]:
    """The object of `palimpsest recall --json`, less its schema."""
    return {name: getattr(found, name) for name in found.__struct_fields__}
