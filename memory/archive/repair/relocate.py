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

    def __init__(self, cold: ColdStore, storage: Storage, damages: Quarantine, told: RepairLog) -> None:
        self._cold, self._storage, self._damages, self._told = cold, storage, damages, told

    def settle(self) -> None:
        """Restores the names of files, then updates the rows to the pages' positions. Does nothing where all is
        well."""
        if lacking := list(self._unsound()):
            self._rename(lacking)
        if lacking := list(self._unsound()):
            self._point(lacking)

    def _unsound(self) -> Iterator[PackRow]:
        """Packs whose file is missing, or does not match its hash."""
        for row in self._cold.read(page_rows.pack_rows):
            try:
                if pack_is_sound(self._storage, row):
                    continue
            except MemoryFailure:
                pass
            yield row

    def _others(self, lacking: list[PackRow]) -> list[str]:
        """Files without a sound page by the index: unknown packs, and files that do not match their row."""
        unsound = {row.name for row in lacking}
        known = {row.name for row in self._cold.read(page_rows.pack_rows)} | set(self._cold.read(pack_gc.leaving))
        return [
            name
            for name in self._storage.names()
            if name.endswith(SUFFIX)
            and (name in unsound or name not in known)
            and self._storage.size(name) <= LARGEST_PACK
        ]

    def _rename(self, lacking: list[PackRow]) -> None:
        """Renames packs to their own name.

        A file is first written under a fresh name: after a crash at any point the next repair finds it.
        """
        wanted = {row.sha256: row.name for row in lacking}
        found: dict[str, str] = {}  # target: where it stands
        for name in self._others(lacking):
            sha256 = hashlib.sha256(self._storage.read(name)).digest()
            target = wanted.get(sha256)
            if target is not None and target != name and not self._is_at_home(name, sha256):
                found.setdefault(target, name)
        spare: dict[str, str] = {}
        for target, name in found.items():
            spare[target] = name
            if name in found:  # its own file takes this name
                spare[target] = new_pack_name()
                self._storage.write(spare[target], self._storage.read(name))
        for target, name in found.items():
            if target in self._storage.names() and target not in found.values():
                self._damages.keep_file(self._storage, target)
            self._storage.write(target, self._storage.read(spare[target]))
            self._told.mended.append(f"Pack {target}: it stood under the name {name}; it is in its place again.")
        known = {row.name for row in self._cold.read(page_rows.pack_rows)}
        for name in set(spare.values()) - known:
            self._storage.delete(name)

    def _point(self, lacking: list[PackRow]) -> None:
        """Finds missing pages in packs without a row, and updates their rows."""
        wanted: dict[str, PageRow] = {}
        for row in lacking:
            pages = self._cold.read(lambda db, row=row: page_rows.pages_of_pack(db, row.name))
            wanted |= {page.id: page for page in pages if not self._reads(row.name, page.position, page)}
        unsound = {row.name for row in lacking}
        for name in self._others(lacking):
            if name in unsound or not wanted:
                continue
            places = self._places(name, wanted)
            if places:
                self._move(*self._alone(name, places, wanted), wanted)
                for page in places:
                    del wanted[page]

    def _places(self, name: str, wanted: dict[str, PageRow]) -> dict[str, int]:
        """Positions in the pack of those wanted pages that read exactly."""
        try:
            leaves = Pack(self._storage, name).pages
        except MemoryFailure:
            return {}
        return {
            leaf.id: at
            for at, leaf in enumerate(leaves)
            if leaf.id in wanted and leaf.sha256 == wanted[leaf.id].sha256 and self._reads(name, at, wanted[leaf.id])
        }

    def _alone(self, name: str, places: dict[str, int], wanted: dict[str, PageRow]) -> tuple[str, dict[str, int]]:
        """The pack itself; or a new one of these pages, where it has others too and no manifest: it is adopted as an
        unknown pack then."""
        pack = Pack(self._storage, name)
        if len(places) == len(pack.pages) or self._is_told(name):
            return name, places
        rows = [wanted[page] for page in places]
        pictures = [
            PageImage(row.id, row.number, row.mode, row.chars, row.sha256, pack.png(places[row.id])) for row in rows
        ]
        written = write_pack(self._storage, new_pack_name(), pictures)
        return written.name, {picture.id: at for at, picture in enumerate(pictures)}

    def _reads(self, name: str, position: int, page: PageRow) -> bool:
        try:
            png = Pack(self._storage, name).png(position)
            return read_picture(png, sha256=page.sha256, page_id=page.id, engine="cells").trust is Trust.EXACT
        except MemoryFailure:
            return False

    def _is_at_home(self, name: str, sha256: bytes) -> bool:
        """Whether the manifest under this name is of this very file: then the row's name is wrong."""
        try:
            return any(part.sha256 == sha256.hex() for part in read_parts(self._storage, name, self._storage.names()))
        except MemoryFailure:
            return False

    def _is_told(self, name: str) -> bool:
        try:
            return bool(read_parts(self._storage, name, self._storage.names()))
        except MemoryFailure:
            return False

    def _move(self, name: str, places: dict[str, int], wanted: dict[str, PageRow]) -> None:
        body = self._storage.read(name)
        told = self._is_told(name)
        self._damages.keep_database(self._cold)

        def transaction(db: apsw.Connection) -> None:
            kind, created_ms = self._kind(name)
            row = PackRow(name, len(body), hashlib.sha256(body).digest(), created_ms, kind)
            page_rows.insert_packs(db, [row])
            old = {wanted[page].pack for page in places}
            for page, position in places.items():
                page_rows.move_page(db, page, wanted[page].pack, name, position)
            empty = page_rows.empty_packs(db, sorted(old))
            page_rows.delete_packs(db, empty)
            seal(
                db, self._storage, sorted(old) if told else [*sorted(old), name]
            )  # a manifest that is sound tells more

        self._cold.write(transaction)
        pages = "1 page" if len(places) == 1 else f"{len(places):,} pages"
        self._told.mended.append(f"Pack {name}: {pages} of the index stand in it; they are found there again.")

    def _kind(self, name: str) -> tuple[str, int]:
        parts = read_parts(self._storage, name, self._storage.names()) if self._is_told(name) else []
        if parts:
            return parts[0].kind, parts[0].created_ms
        return "warm", min(row.created_ms for row in self._cold.read(page_rows.pack_rows))
