"""The vault: archives text as pages, and reads pages back as text.

The order of steps makes it crash-safe: packs are written and synced, reopened, read and compared; then one transaction
adds the rows and removes the text from the store. After a crash at any point a text is in the store or in the pages,
and at worst an unreferenced pack is left. Only `release` and the deletion of a conversation delete pages.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from foundation.clock import Clock, to_ms
from foundation.files import UnsafePath
from foundation.privacy import Cleared, clear
from memory.archive.lifecycle.deletion import ConversationDeleter, DeletionResult
from memory.archive.lifecycle.overdue import Overdue
from memory.archive.packs.pack_cache import CachedStorage
from memory.archive.packs.page_cache import PageCache
from memory.archive.packs.reader import PageReader
from memory.archive.packs.storage import MIN_REPACK_AGE, PAGES_A_FRAME, LocalStorage, Storage
from memory.archive.packs.unknown_packs import index_lost, unknown_packs
from memory.archive.rows import archives as archive_rows
from memory.archive.rows import pack_gc
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.archive.texts import ArchivedTexts
from memory.archive.write.costs import FileArchiveOptions, PageCosts
from memory.cold import ColdStore, deletions
from memory.pages.render.header import text_digest
from memory.pages.render.modes import Mode, mode_named
from memory.pages.types import ArchiveEstimate, ArchiveResult, ArchiveRow, EntryText, PageRow, PageText
from memory.records import Entry, IntegrityProblem
from memory.settings import ArchiveSettings

if TYPE_CHECKING:
    from memory.archive.lifecycle.move import PageMover
    from memory.archive.lifecycle.repack import Repacker
    from memory.archive.repair.entries import RestoredText
    from memory.archive.write.archiver import AfterArchive, Archiver
    from memory.pages.cost.choice import LayoutChoice
    from memory.pages.types import OnPage


class Vault:
    """The archive of one workspace. `count` counts a text's tokens, and `tokenizer` is its name.

    `kept` is the folder of the sidecar texts of explicit archives: a damaged page is read from there.

    Methods are safe to call from any thread.
    """

    def __init__(
        self,
        packs: Storage | Path,
        cache: Path,
        cold: ColdStore,
        clock: Clock,
        *,
        settings: ArchiveSettings | None = None,
        count: Callable[[str], int] | None = None,
        tokenizer: str = "estimate",
        kept: Path | None = None,
    ) -> None:
        self.storage: Storage = LocalStorage(packs) if isinstance(packs, Path) else packs
        self.settings = settings or ArchiveSettings()
        self._cache = PageCache(cache, clock, self.settings)
        self._cold = cold
        self._clock = clock
        self._count = count
        self._tokenizer = tokenizer
        self.page_reader = PageReader(self.storage, lambda page: cold.read(lambda db: page_rows.page_row(db, page)))
        self._texts = ArchivedTexts(cold, self.page_reader, kept)
        self._kept = kept

    # ── in ──

    def archive_text(
        self,
        text: Cleared,
        *,
        label: str,
        mode: str | None = None,
        dense: bool | None = None,
        keep_entry: bool = True,
        kind: str = "archive",
        origin: str = "file",
        also: "AfterArchive | None" = None,
        on_page: "OnPage | None" = None,
        pictures: dict[str, Path] | None = None,
    ) -> ArchiveResult:
        """Archives a text as pages. Each page is an entry of kind page, in a conversation of `kind` titled `label`.

        Pages of an older file with the same text are shared. Without `keep_entry` there are no entries, and search does
        not find the pages. `also` runs in the same transaction. `on_page` receives the number of written and verified
        pages; an exception from it cancels the archiving without a trace. With `pictures` the new pages are put into
        the page cache, and their paths into it, by page id. Raises Misuse for an unknown mode, and Damaged where a page
        does not read back.
        """
        options = FileArchiveOptions(keep_entry=keep_entry, kind=kind, origin=origin)
        paths = {} if pictures is None else pictures

        def put(page_id: str, png: bytes) -> None:
            paths[page_id] = self._cache.put(page_id, png)

        on_picture = None if pictures is None else put
        try:
            return self._archiver.text(
                text, label, self._mode(mode, dense), options, also=also, on_page=on_page, on_picture=on_picture
            )
        except BaseException:
            for page_id in paths:
                self._cache.drop(page_id)
            raise

    def choose_layout(self, text: str, *, dense: bool | None = None) -> "LayoutChoice":
        """The cheapest page mode and cells for the text and the profile of the settings. `dense` allows no others."""
        from memory.pages.cost.choice import cheapest_layout
        from memory.pages.cost.profiles import profile_named

        return cheapest_layout(text, profile_named(self.settings.profile), dense=dense or self.settings.dense)

    def archive_entries(
        self,
        entries: Sequence[Entry],
        *,
        label: str,
        mode: str | None = None,
        dense: bool | None = None,
        also: Callable[[apsw.Connection], None] | None = None,
        on_page: "OnPage | None" = None,
    ) -> ArchiveResult:
        """Archives entries of one conversation as pages; from the commit on their text is on the pages alone.

        `also` runs in the same transaction. Passages that are on a page already are not drawn again. Archived entries
        are skipped. Raises OutOfDate where an entry changed meanwhile: then nothing was removed from the store, and
        `also` did not run.
        """
        return self._archiver.entries(entries, label, self._mode(mode, dense), also=also, on_page=on_page)

    def keep_text(self, label: str, text: Cleared) -> Path:
        """Writes the text as `memory/archive/<label>.md`, for a person to read and to search; gives its path.

        It replaces earlier texts that were archived under the label, and never one that was edited.
        """
        if self._kept is None:
            raise ValueError("this vault has no folder for kept texts")
        from memory.archive.write.sidecar import keep_text

        return keep_text(self._kept, label, text, lambda earlier: self._holds(label, earlier))

    def expected(
        self, entries: Sequence[Entry], *, mode: str | None = None, dense: bool | None = None
    ) -> ArchiveEstimate:
        """Exact estimate of the pages and tokens of `archive_entries`. Draws nothing."""
        return self._archiver.expected(entries, self._mode(mode, dense))

    # ── out ──

    def read_page(self, page_id: str) -> PageText:
        """The page's text; `troubles` reports damage. Raises NotFound; Damaged where there is no text."""
        return self._texts.page(page_id)

    def exact_text(self, row: PageRow) -> str | None:
        """The page's text from its pixels; None where they do not match its hash."""
        return self._texts.exact_page(row)

    def entry_text(self, entry: Entry) -> EntryText:
        """The entry's whole text: as stored, or read back from its pages. Raises Damaged where a page is lost."""
        return self._texts.entry(entry)

    def troubles(self) -> list[str]:
        """Damage found since the last call: a sentence per page, each reported once."""
        return self._texts.troubles()

    def readable_text(self, entry: Entry) -> "RestoredText":
        """The readable part of the entry's text, with marks for lost pages. Raises only StorageUnreachable."""
        from memory.archive.repair.entries import readable_text

        return readable_text(self, self._cold, entry)

    def knows(self, page_id: str) -> bool:
        """Whether this workspace has a page of that id."""
        return self._cold.read(lambda db: page_rows.sha256_of_page(db, page_id)) is not None

    def contradicts(self, page_id: str, text: str) -> bool:
        """Whether this workspace has a page of that id with another text: then a picture with the id is forged."""
        known = self._cold.read(lambda db: page_rows.sha256_of_page(db, page_id))
        return known is not None and known != text_digest(text)

    def png(self, page_id: str) -> Path:
        """The page as a file in the page cache, which stays for a day at least. Raises NotFound, Damaged."""
        return self._cache.put(
            page_id, self.page_reader.png(self._cold.read(lambda db: page_rows.page_row(db, page_id)))
        )

    def pages(self, archive: int | None = None) -> list[PageRow]:
        """All pages, or those that one archive (its seq) holds, in order."""
        return self._cold.read(lambda db: page_rows.page_rows(db, archive))

    def page(self, page_id: str) -> PageRow:
        """Raises NotFound."""
        return self._cold.read(lambda db: page_rows.page_row(db, page_id))

    def spans(self, entry: int) -> list[page_rows.EntrySpan]:
        """Spans of the entry's text on pages, in order."""
        return self._cold.read(lambda db: page_rows.spans_of(db, entry))

    def label_doubts(self, archive: int) -> tuple[str, ...]:
        """Why a citation that names the archive is not exact, in sentences."""
        return self._cold.read(lambda db: archive_rows.label_doubts(db, archive))

    def page_label_doubts(self, page_id: str) -> tuple[str, ...]:
        """Why a citation that names the page's archive is not exact, in sentences."""
        return self._cold.read(lambda db: archive_rows.page_label_doubts(db, page_id))

    def archives(self) -> list[ArchiveRow]:
        """All archives, newest first."""
        return self._cold.read(archive_rows.archive_rows)

    def find_archive(self, ref: str | int) -> ArchiveRow:
        """By its label (the newest of that name), or its number (7 or #7). Raises NotFound."""
        return self._cold.read(lambda db: archive_rows.find_archive(db, ref))

    # ── names and pins ──

    def tag(self, archive: int, name: str) -> ArchiveRow:
        cleared = clear(name)
        return self._update_archive(archive, lambda db: archive_rows.tag(db, archive, cleared))

    def untag(self, archive: int, name: str) -> ArchiveRow:
        return self._update_archive(archive, lambda db: archive_rows.untag(db, archive, name))

    def pin(self, archive: int) -> ArchiveRow:
        """Exempts the archive's conversation from archiving by age."""
        return self._update_archive(archive, lambda db: archive_rows.pin(db, archive, True))

    def unpin(self, archive: int) -> ArchiveRow:
        return self._update_archive(archive, lambda db: archive_rows.pin(db, archive, False))

    def relabel(self, archive: int, label: str) -> ArchiveRow:
        cleared = clear(label)
        return self._update_archive(archive, lambda db: archive_rows.relabel(db, archive, cleared))

    # ── upkeep ──

    def check(self) -> list[IntegrityProblem]:
        """Reads every pack and page, and compares them with the index. About a second for a thousand pages."""
        from memory.archive.repair.check import check_archive

        if isinstance(self.storage, CachedStorage):
            self.storage.empty_cache()
        return check_archive(self._cold, self.storage)

    def index_lost(self) -> str:
        """A warning where there are packs, and the store has rows of none of them; "" otherwise."""
        if isinstance(self.storage, LocalStorage) and not self._cold.read(page_rows.knows_packs):
            known = self._cold.read(pack_gc.owners_by_name)
            if unknown := unknown_packs(self.storage.folder, known):
                return index_lost(self._cold.database, len(unknown))
        return ""

    def release(self, page_ids: Sequence[str] = ()) -> None:
        """Deletes pages whose text was deleted, and packs without any other page.

        A text that other entries share with such a page is restored to the store first.
        """
        from memory.archive.lifecycle.release import PageReleaser

        released = PageReleaser(
            self._cold, self.storage, self.page_reader, self._page_mover, self._texts.exact_entry
        ).release(page_ids)
        self._texts.forget(released)
        for page_id in released:
            self._cache.drop(page_id)

    def take_back(
        self,
        ranges: Sequence[tuple[int, int]],
        archives: Sequence[int],
        on_entries: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Takes the archiving of entries (`ranges` of their seqs) in these archives (seqs) back: their texts return to
        the store, and pages that nothing else needs are deleted. Gives the number of entries whose text returned.

        `on_entries` receives that number as it grows; an exception from it ends the work. Raises Damaged where a page
        cannot be read exactly: that entry and those that follow stay. It may be repeated.
        """
        from memory.archive.lifecycle.take_back import take_back

        return take_back(
            self._cold,
            self.storage,
            ranges,
            archives,
            text_of=self._texts.exact_entry,
            release=self.release,
            on_entries=on_entries,
        )

    def delete_conversation(self, seq: int) -> DeletionResult:
        """Deletes a conversation for good, with its pages. `finish_deletions` resumes an interrupted deletion.

        Raises NotFound; StoreBusy while an answer is being written in it.
        """
        return self.deleter.delete(seq)

    def finish_deletions(self) -> int:
        """Resumes interrupted deletions; gives the number of finished ones. Quick where there are none."""
        if self._cold.read_only or not self._cold.read(deletions.unfinished):
            return 0
        return self.deleter.finish()

    def fills_a_frame(self) -> bool:
        """Whether enough pages are at rest to repack them. Quick; loads nothing."""
        before = to_ms(self._clock.now() - MIN_REPACK_AGE)
        return self._cold.read(lambda db: page_rows.warm_pages(db, before)) >= PAGES_A_FRAME

    @property
    def overdue(self) -> Overdue:
        """Archiving of conversations by age."""
        return Overdue(self._cold, self.archive_entries)

    @property
    def repacking(self) -> "Repacker":
        """Repacks pages at rest: `due()` gives their number, `run(…)` packs them tighter."""
        from memory.archive.lifecycle.repack import Repacker

        return Repacker(self._cold, self._clock, self._page_mover)

    def close(self) -> None:
        """Bounds the page cache, and closes the connection to remote storage."""
        if not self._cold.read_only:
            with suppress(OSError, UnsafePath):
                self._cache.sweep()
        self.storage.close()

    # ── within ──

    @cached_property
    def _archiver(self) -> "Archiver":
        from memory.archive.write.archiver import Archiver

        costs = PageCosts(self.settings, self._count, self._tokenizer)
        parity = self.settings.parity
        return Archiver(self.storage, self._cold, self._clock, costs, self.exact_text, parity=parity)

    @cached_property
    def deleter(self) -> ConversationDeleter:
        return ConversationDeleter(self._cold, self.storage, self.release, self._texts.exact_entry)

    @cached_property
    def _page_mover(self) -> "PageMover":
        from memory.archive.lifecycle.move import PageMover

        return PageMover(self._cold, self.storage, self._clock, self.page_reader, parity=self.settings.parity)

    def _holds(self, label: str, text: str) -> bool:
        """Whether the pages of an archive of that label hold this text, to the letter."""
        archives = [archive.seq for archive in self.archives() if archive.label == clear(label)]
        return any(self._is_text_of(self.pages(archive), text) for archive in archives)

    def _is_text_of(self, pages: Sequence[PageRow], text: str) -> bool:
        if sum(page.chars for page in pages) != len(text):
            return False
        starts = accumulate((page.chars for page in pages), initial=0)
        return all(
            self.exact_text(page) == text[start : start + page.chars]
            for start, page in zip(starts, pages, strict=False)
        )

    def _mode(self, name: str | None, dense: bool | None) -> Mode:
        return mode_named(name or self.settings.page_mode, self.settings.dense if dense is None else dense)

    def _update_archive(self, archive: int, change: Callable[[apsw.Connection], object]) -> ArchiveRow:
        def transaction(db: apsw.Connection) -> ArchiveRow:
            change(db)
            row = archive_rows.find_archive(db, archive)
            seal(db, self.storage, archive_rows.packs_of_archive(db, archive))
            return row

        return self._cold.write(transaction)
