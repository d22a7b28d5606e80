"""Finds packs under a wrong file name, and pages that are in a pack without a row.

A pack is identified by the SHA-256 of its file, a page by its id and the SHA-256 of its text. So two swapped files, or
an index that is older than the last repack, lose nothing.
"""

import hashlib
from collections.abc import Iterator

import apsw

from foundation.trust import Trust
from memory.archive.packs.manifest import read_parts
from memory.archive.packs.pack import Pack, PageImage, new_pack_name, write_pack
from memory.archive.packs.storage import Storage
from memory.archive.packs.unknown_packs import SUFFIX
from memory.archive.repair.check import pack_is_sound
from memory.archive.repair.packs import LARGEST_PACK, RepairLog
from memory.archive.repair.quarantine import Quarantine
from memory.archive.rows import pack_gc
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import PackRow
from memory.cold import ColdStore
from memory.errors import MemoryFailure
from memory.pages.read.reader import read_picture
from memory.pages.types import PageRow


class PackLocator:
    """Relocates packs and pages in one repair."""

    def __init__(self, cold: ColdStore, storage: Storage, quarantine: Quarantine, log: RepairLog) -> None:
        self._cold, self._storage, self._quarantine, self._log = cold, storage, quarantine, log

    def relocate(self) -> None:
        """Restores the names of files, then updates the rows to the pages' positions. Does nothing where all is
        well."""
        if unsound_packs := list(self._unsound_packs()):
            self._rename(unsound_packs)
        if unsound_packs := list(self._unsound_packs()):
            self._update_positions(unsound_packs)

    def _unsound_packs(self) -> Iterator[PackRow]:
        """Packs whose file is missing, or does not match its hash."""
        for row in self._cold.read(page_rows.pack_rows):
            try:
                if pack_is_sound(self._storage, row):
                    continue
            except MemoryFailure:
                pass
            yield row

    def _candidates(self, unsound_packs: list[PackRow]) -> list[str]:
        """Files without a sound page by the index: unknown packs, and files that do not match their row."""
        unsound = {row.name for row in unsound_packs}
        known = {row.name for row in self._cold.read(page_rows.pack_rows)} | set(
            self._cold.read(pack_gc.owners_by_name)
        )
        return [
            name
            for name in self._storage.names()
            if name.endswith(SUFFIX)
            and (name in unsound or name not in known)
            and self._storage.size(name) <= LARGEST_PACK
        ]

    def _rename(self, unsound_packs: list[PackRow]) -> None:
        """Renames packs to their own name.

        A file is first written under a fresh name: after a crash at any point the next repair finds it.
        """
        wanted = {row.sha256: row.name for row in unsound_packs}
        misnamed: dict[str, str] = {}  # the current file name, by the right one
        for name in self._candidates(unsound_packs):
            sha256 = hashlib.sha256(self._storage.read(name)).digest()
            target = wanted.get(sha256)
            if target is not None and target != name and not self._is_named_by_manifest(name, sha256):
                misnamed.setdefault(target, name)
        copies: dict[str, str] = {}
        for target, name in misnamed.items():
            copies[target] = name
            if name in misnamed:  # its own file takes this name
                copies[target] = new_pack_name()
                self._storage.write(copies[target], self._storage.read(name))
        for target, name in misnamed.items():
            if target in self._storage.names() and target not in misnamed.values():
                self._quarantine.copy_file(self._storage, target)
            self._storage.write(target, self._storage.read(copies[target]))
            self._log.mended.append(f"Pack {target}: renamed back from {name}.")
        known = {row.name for row in self._cold.read(page_rows.pack_rows)}
        for name in set(copies.values()) - known:
            self._storage.delete(name)

    def _update_positions(self, unsound_packs: list[PackRow]) -> None:
        """Finds missing pages in packs without a row, and updates their rows."""
        wanted: dict[str, PageRow] = {}
        for row in unsound_packs:
            pages = self._cold.read(lambda db, row=row: page_rows.pages_of_pack(db, row.name))
            wanted |= {page.id: page for page in pages if not self._reads_exactly(row.name, page.position, page)}
        unsound = {row.name for row in unsound_packs}
        for name in self._candidates(unsound_packs):
            if name in unsound or not wanted:
                continue
            positions = self._positions(name, wanted)
            if positions:
                self._move(*self._separate(name, positions, wanted), wanted)
                for page in positions:
                    del wanted[page]

    def _positions(self, name: str, wanted: dict[str, PageRow]) -> dict[str, int]:
        """Positions in the pack of those wanted pages that read exactly."""
        try:
            pages = Pack(self._storage, name).pages
        except MemoryFailure:
            return {}
        return {
            page.id: at
            for at, page in enumerate(pages)
            if page.id in wanted
            and page.sha256 == wanted[page.id].sha256
            and self._reads_exactly(name, at, wanted[page.id])
        }

    def _separate(self, name: str, positions: dict[str, int], wanted: dict[str, PageRow]) -> tuple[str, dict[str, int]]:
        """The pack itself; or a new one of these pages, where it has others too and no manifest: it is adopted as an
        unknown pack then."""
        pack = Pack(self._storage, name)
        if len(positions) == len(pack.pages) or self._has_manifest(name):
            return name, positions
        rows = [wanted[page] for page in positions]
        pictures = [
            PageImage(row.id, row.number, row.mode, row.chars, row.sha256, pack.png(positions[row.id])) for row in rows
        ]
        written = write_pack(self._storage, new_pack_name(), pictures)
        return written.name, {picture.id: at for at, picture in enumerate(pictures)}

    def _reads_exactly(self, name: str, position: int, page: PageRow) -> bool:
        try:
            png = Pack(self._storage, name).png(position)
            return read_picture(png, sha256=page.sha256, page_id=page.id, engine="cells").trust is Trust.EXACT
        except MemoryFailure:
            return False

    def _is_named_by_manifest(self, name: str, sha256: bytes) -> bool:
        """Whether the manifest under this name is of this very file: then the row's name is wrong."""
        try:
            return any(part.sha256 == sha256.hex() for part in read_parts(self._storage, name, self._storage.names()))
        except MemoryFailure:
            return False

    def _has_manifest(self, name: str) -> bool:
        try:
            return bool(read_parts(self._storage, name, self._storage.names()))
        except MemoryFailure:
            return False

    def _move(self, name: str, positions: dict[str, int], wanted: dict[str, PageRow]) -> None:
        body = self._storage.read(name)
        has_manifest = self._has_manifest(name)
        self._quarantine.copy_database(self._cold)

        def transaction(db: apsw.Connection) -> None:
            kind, created_ms = self._kind(name)
            row = PackRow(name, len(body), hashlib.sha256(body).digest(), created_ms, kind)
            page_rows.insert_packs(db, [row])
            old = {wanted[page].pack for page in positions}
            for page, position in positions.items():
                page_rows.move_page(db, page, wanted[page].pack, name, position)
            empty = page_rows.empty_packs(db, sorted(old))
            page_rows.delete_packs(db, empty)
            # a sound manifest has facts that the index lacks
            seal(db, self._storage, sorted(old) if has_manifest else [*sorted(old), name])

        self._cold.write(transaction)
        pages = "1 page" if len(positions) == 1 else f"{len(positions):,} pages"
        self._log.mended.append(f"Pack {name}: {pages} of the index linked to it again.")

    def _kind(self, name: str) -> tuple[str, int]:
        parts = read_parts(self._storage, name, self._storage.names()) if self._has_manifest(name) else []
        if parts:
            return parts[0].kind, parts[0].created_ms
        return "warm", min(row.created_ms for row in self._cold.read(page_rows.pack_rows))
