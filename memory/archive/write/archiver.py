"""Archiving: finds text that is on pages already, draws and verifies the rest, and adds the rows in one transaction.

After a crash at any point a text is in the store or on pages, never in neither, and never twice.

Of an archived file each page's text is an entry, found by its terms and read back from its pixels.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import count

import apsw
from msgspec import structs

from foundation.clock import Clock, to_ms
from foundation.privacy import Cleared, clear, cleared_fields, part_of
from memory.archive.packs.pack import new_pack_name
from memory.archive.packs.parity import write_parity
from memory.archive.packs.storage import Storage
from memory.archive.rows import archives, pack_gc
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import EntrySpan
from memory.archive.write import chunks, shared_files
from memory.archive.write.chunks import PagePart, PassageIndex
from memory.archive.write.costs import FileArchiveOptions, PageCosts
from memory.archive.write.dedup import Deduplicator
from memory.archive.write.page_writer import OnPicture, PackedPage, bind
from memory.archive.write.shared_files import FilePiece, SharedPage, UnsharedSpan
from memory.cold import ColdStore
from memory.cold.conversations import insert_conversation
from memory.cold.encoding import plain
from memory.cold.entries import insert_entry, release_text
from memory.errors import OutOfDate
from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.header import text_digest
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import Mode
from memory.pages.render.page import page_sheets
from memory.pages.types import ArchiveEstimate, ArchiveResult, OnPage, PageRow
from memory.records import AnalysedTerms, Entry, EntryAnalyser, EntryDraft, EntryKind
from models.messages import Role


class PageEntry:
    """A page that gets an entry; `seq` is the entry's, once it is inserted. `number` counts from 1.

    `start` is its offset in the file's text.
    """

    def __init__(self, row: PageRow, number: int, start: int, terms: AnalysedTerms) -> None:
        self.row = row
        self.number = number
        self.start = start
        self.terms = terms
        self.seq = 0


def insert_page_entries(  # noqa: PLR0917 — the conversation, and what its entries are made of
    db: apsw.Connection, clock: Clock, title: Cleared, kind: str, text: Cleared, pages: Sequence[PageEntry]
) -> int:
    """Adds a conversation of that kind with an entry per page, without text in the store; gives its seq.

    `text` is the file's. A page's own text is held only while its row is written.
    """
    conversation = insert_conversation(db, clock, title, kind=kind)
    parent: int | None = None
    for page in pages:
        draft = EntryDraft(
            conversation=conversation.seq,
            parent=parent,
            kind=EntryKind.PAGE,
            role=Role.USER,
            text=part_of(text, page.start, page.start + page.row.chars),
            meta=cleared_fields({"page": page.row.id, "number": page.number}),
        )
        page.seq = parent = insert_entry(db, draft, clock=clock, analyse=_ready(page.terms), keep_text=False).seq
    return conversation.seq


def _ready(terms: AnalysedTerms) -> EntryAnalyser:
    return lambda _text, _speaker, _meta=None, _at=None: terms


AfterArchive = Callable[[apsw.Connection, ArchiveResult], None]
ReadPage = Callable[[PageRow], str | None]
"""A page's text where it is exact, else None."""


class Archiver:
    """Makes archives in one workspace. `read` reads pages that are there."""

    def __init__(
        self, storage: Storage, cold: ColdStore, clock: Clock, figures: PageCosts, read: ReadPage, *, parity: int = 0
    ) -> None:
        """`parity` is what is kept beside each pack, in percent of its size."""
        self._storage = storage
        self._parity = parity
        self._cold = cold
        self._clock = clock
        self._figures = figures
        self._read = read

    def text(
        self,
        text: Cleared,
        label: str,
        mode: Mode,
        how: FileArchiveOptions,
        *,
        also: AfterArchive | None,
        on_page: OnPage | None,
        on_picture: OnPicture | None = None,
    ) -> ArchiveResult:
        """Archives a file, to the byte: as self-contained pages, each with an entry of its own where `how` says so."""
        cut = chunks.passages(text)
        pieces = self._covered(text, cut, mode)
        fresh = [piece for piece in pieces if isinstance(piece, UnsharedSpan)]
        with _Packs(self._cold, self._storage) as packs:
            terms: dict[str, AnalysedTerms] = {}

            def row(page: PackedPage) -> PageRow:
                if how.keep_entry:
                    terms[page.id] = self._cold.analyse(page.text, "")
                return self._figures.row(page)

            bound, rows = self._bound(
                [[LayoutText(piece.text)] for piece in fresh],
                mode,
                packs,
                on_page,
                row,
                texts=False,
                on_picture=on_picture,
            )
            pages = _in_order(pieces, fresh, bound, rows)
            entries = self._page_entries(pages, text, terms) if how.keep_entry else []
            homes = _homes_in_file(cut, fresh, PassageIndex(bound))
            title = clear(label)

            def transaction(db: apsw.Connection) -> ArchiveResult:
                self._still_there(db, pieces)
                whose = insert_page_entries(db, self._clock, title, how.kind, text, entries) if how.keep_entry else None
                archive = archives.insert_archive(
                    db, plain(title), how.origin, self._now(), bare=not how.keep_entry, conversation=whose
                )
                self._take_in(db, archive, bound, rows, [row.id for row in pages])
                for entry in entries:
                    page_rows.insert_spans(db, entry.seq, [EntrySpan(0, entry.row.chars, entry.row.id, 0)])
                chunks.index(db, homes, shared_files.way_of(mode))
                shared = sum(piece.row.chars for piece in pieces if isinstance(piece, SharedPage))
                archived = self._archived(
                    archive, title, [_of(row, archive, n) for n, row in enumerate(pages, 1)], shared
                )
                if also is not None:
                    also(db, archived)
                seal(db, self._storage, {*packs.names, *page_rows.packs_of(db, [row.id for row in pages])} or {""})
                return archived

            return self._cold.write(transaction)

    def entries(
        self,
        entries: Sequence[Entry],
        label: str,
        mode: Mode,
        *,
        also: Callable[[apsw.Connection], None] | None,
        on_page: OnPage | None,
    ) -> ArchiveResult:
        """Archives entries of one conversation; from the commit on their text is on the pages alone."""
        entries = [entry for entry in entries if entry.text is not None]
        sharing = Deduplicator(self._cold, self._read)
        drawn = sharing.composed(entries)
        with _Packs(self._cold, self._storage) as packs:
            laid = [structs.replace(s, text=drawn[s.key].text) for s in stretches(entries)]
            bound, rows = self._bound(
                [laid] if laid else [], mode, packs, on_page, lambda page: self._figures.row(page, drawn)
            )
            spans = sharing.spans(PassageIndex(bound), {page.id: page.text for page in bound})
            title = clear(label)

            def transaction(db: apsw.Connection) -> ArchiveResult:
                sharing.still_there(db)
                for entry in entries:  # first of all: its conversation may be gone
                    if not page_rows.is_stored(db, entry.seq, text_digest(entry.text or "")):
                        raise _out_of_date(entry)
                archive = 0
                if bound:
                    conversation = entries[0].conversation_seq
                    archive = archives.insert_archive(
                        db, plain(title), "conversation", self._now(), conversation=conversation
                    )
                    self._take_in(db, archive, bound, rows, [row.id for row in rows])
                for entry in entries:
                    page_rows.insert_spans(db, entry.seq, spans[entry.seq])
                chunks.index(db, sharing.new_homes)
                release_text(db, [entry.seq for entry in entries])
                archived = self._archived(
                    archive, title, [_of(row, archive, row.number) for row in rows], sharing.chars
                )
                if also is not None:
                    also(db)
                touched = page_rows.packs_of(db, {span.page for found in spans.values() for span in found})
                seal(db, self._storage, {*packs.names, *touched})
                return archived

            return self._cold.write(transaction)

    def expected(self, entries: Sequence[Entry], mode: Mode) -> ArchiveEstimate:
        """Exact estimate of `entries`: laid out and counted in the same way, but not drawn."""
        entries = [entry for entry in entries if entry.text is not None]
        sharing = Deduplicator(self._cold, self._read)
        drawn = sharing.composed(entries)
        laid = [structs.replace(s, text=drawn[s.key].text) for s in stretches(entries)]
        pages = text_tokens = vision_tokens = 0
        for sheet in page_sheets(laid, mode):
            pages += 1
            text_tokens += self._figures.words(sheet.text, sheet.laid, drawn)
            vision_tokens += self._figures.picture(sheet.mode.name)
        return ArchiveEstimate(
            pages=pages, text_tokens=text_tokens, vision_tokens=vision_tokens, shared_chars=sharing.chars
        )

    # ── the steps ──

    def _covered(self, text: str, cut: Sequence[chunks.PassageSpan], mode: Mode) -> list[FilePiece]:
        way = shared_files.way_of(mode)
        homes = self._cold.read(lambda db: chunks.known_as(db, (passage.hash for passage in cut), way))
        places = shared_files.candidates(cut, homes)
        pages = {page for _, page in places}
        rows = self._cold.read(lambda db: page_rows.pages_by_id(db, pages, not_of="conversation"))
        return shared_files.cover(text, mode, places, rows, self._read)

    def _bound(
        self,
        runs: Sequence[Sequence[LayoutText]],
        mode: Mode,
        packs: "_Packs",
        on_page: OnPage | None,
        row: Callable[[PackedPage], PageRow],
        *,
        texts: bool = True,
        on_picture: OnPicture | None = None,
    ) -> tuple[list[PackedPage], list[PageRow]]:
        """Pages and their rows: each is counted when it is verified, so that `on_page` reports all the work.

        Without `texts` no page keeps its own text: together they would be the file once more.
        """
        bound, rows = list[PackedPage](), list[PageRow]()
        names, now = packs.new_name, self._now()
        for page in bind(self._storage, runs, mode, now, new_name=names, on_page=on_page, on_picture=on_picture):
            bound.append(page if texts else page.without_text())
            rows.append(row(page))
        for name in packs.names if self._parity else ():
            write_parity(self._storage, name, self._parity)
        return bound, rows

    def _page_entries(self, pages: Sequence[PageRow], text: str, known: Mapping[str, AnalysedTerms]) -> list[PageEntry]:
        """Prepares the terms: analysing them takes longest, and the store is locked in a transaction.

        `known` are those of the pages that were just drawn.
        """
        entries, at = list[PageEntry](), 0
        for number, row in enumerate(pages, 1):
            terms = known.get(row.id) or self._cold.analyse(text[at : at + row.chars], "")
            entries.append(PageEntry(row, number, at, terms))
            at += row.chars
        return entries

    def _take_in(
        self,
        db: apsw.Connection,
        archive: int,
        bound: Sequence[PackedPage],
        rows: Sequence[PageRow],
        held: Sequence[str],
    ) -> None:
        packs = {page.pack.name: page.pack for page in bound}
        page_rows.insert_packs(db, packs.values())
        page_rows.insert_pages(db, [structs.replace(row, archive=archive) for row in rows])
        archives.hold_pages(db, archive, held)
        pack_gc.unlist(db, packs)

    def _still_there(self, db: apsw.Connection, pieces: Sequence[FilePiece]) -> None:
        taken = {piece.row.id for piece in pieces if isinstance(piece, SharedPage)}
        if len(page_rows.pages_by_id(db, taken)) < len(taken):
            raise OutOfDate("The archive changed", "A page was deleted while it was being reused.", "Try again.")

    def _archived(self, archive: int, label: str, rows: Sequence[PageRow], shared_chars: int) -> ArchiveResult:
        return ArchiveResult(
            seq=archive,
            label=label,
            pages=tuple(rows),
            text_tokens=sum(row.text_tokens for row in rows),
            vision_tokens=sum(row.vision_tokens for row in rows),
            tokenizer=self._figures.tokenizer,
            profile=self._figures.profile,
            shared_chars=shared_chars,
        )

    def _now(self) -> int:
        return to_ms(self._clock.now())


class _Packs:
    """Names of the packs that one archiving writes; where it fails, their files are deleted."""

    def __init__(self, cold: ColdStore, storage: Storage) -> None:
        self.names: list[str] = []
        self._cold = cold
        self._storage = storage

    def new_name(self) -> str:
        self.names.append(pack_gc.announce(self._cold, new_pack_name()))
        return self.names[-1]

    def __enter__(self) -> "_Packs":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and self.names:
            with suppress(Exception):  # the failure that is under way says more; what is left is swept another time
                pack_gc.sweep(self._cold, self._storage, self.names)


def _in_order(
    pieces: Sequence[FilePiece], fresh: Sequence[UnsharedSpan], bound: Sequence[PackedPage], rows: Sequence[PageRow]
) -> list[PageRow]:
    """All pages of the file, shared and new ones, in the order of its text."""
    drawn: dict[int, list[PageRow]] = {}
    for page, row in zip(bound, rows, strict=True):
        drawn.setdefault(page.run, []).append(row)
    run, pages = count(), list[PageRow]()
    for piece in pieces:
        pages += [piece.row] if isinstance(piece, SharedPage) else drawn[next(run)]
    return pages


def _homes_in_file(
    cut: Sequence[chunks.PassageSpan], fresh: Sequence[UnsharedSpan], places: PassageIndex
) -> dict[bytes, list[PagePart]]:
    """Locations of the passages that were drawn whole."""
    homes: dict[bytes, list[PagePart]] = {}
    at = 0
    for passage in cut:
        while at < len(fresh) and fresh[at].start + len(fresh[at].text) < passage.start + passage.length:
            at += 1
        if at < len(fresh) and fresh[at].start <= passage.start:
            homes.setdefault(passage.hash, places.of(at, 0, passage.start - fresh[at].start, passage.length))
    return homes


def _of(row: PageRow, archive: int, number: int) -> PageRow:
    return structs.replace(row, archive=archive, number=number)


def _out_of_date(entry: Entry) -> OutOfDate:
    return OutOfDate(
        "The conversation changed",
        f"Entry {entry.id} was changed, archived or deleted while it was being archived. Nothing was deleted.",
        "Try again: the pages will be made from the current text.",
    )


def stretches(entries: Iterable[Entry]) -> list[LayoutText]:
    """Entries' texts for the layout, each under its head. Requires entries with text."""
    return [
        LayoutText(entry.text or "", EntryHead(entry.id, entry.speaker, entry.role.value, entry.time), entry.seq)
        for entry in entries
    ]
