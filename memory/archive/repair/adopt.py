"""Adoption of packs without a row in the index: deleted where all their text is stored elsewhere, else indexed.

The content of a pack comes from its manifest; from its pixels alone where there is none.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import apsw

from foundation.clock import from_ms, iso, to_ms
from foundation.trust import Trust
from memory.archive.packs.manifest import manifest_name, parts_of
from memory.archive.packs.pack import Pack, PageImage, new_pack_name, refuse_newer, write_pack
from memory.archive.packs.parity import parity_name, recover_pack
from memory.archive.packs.storage import Storage
from memory.archive.repair.deleted import DeletedConversations
from memory.archive.repair.diff import Fields, Key
from memory.archive.repair.forgotten_pages import ForgottenPages
from memory.archive.repair.from_pixels import PixelPage, facts_of_pixels, pieces_of, pixel_page
from memory.archive.repair.packs import LARGEST_PACK, RepairLog, redraw_page
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.reconcile import (
    ManifestFacts,
    is_stored,
    missing_facts,
    resolve_double_storage,
)
from memory.archive.repair.restore import write_facts
from memory.archive.repair.salvage import SalvagedPage, salvaged_pages
from memory.archive.rows import pages as page_rows
from memory.archive.rows.facts import seal
from memory.archive.rows.pages import PackRow
from memory.cold import ColdStore
from memory.cold.changes import said_at
from memory.cold.encoding import readable_meta, unpack
from memory.cold.sql import fetch, first
from memory.errors import MemoryFailure, NewerPack
from memory.pages.read.reader import read_picture
from memory.pages.render.header import text_digest
from memory.pages.types import PageRow
from memory.records import AnalysedTerms


class PackAdopter:
    """Inspects unknown packs one by one, then adds their content in one transaction."""

    def __init__(
        self,
        cold: ColdStore,
        storage: Storage,
        quarantine: Quarantine,
        log: RepairLog,
        *,
        now: datetime,
        kept_texts: Path | None,
        deleted: DeletedConversations,
        forgotten: ForgottenPages,
    ) -> None:
        self._deleted = deleted
        self._forgotten = forgotten
        self._packs_to_delete: list[str] = []  # packs with pages of what was deleted or forgotten: without a copy
        self._kept_texts = kept_texts
        self._packs_to_quarantine: list[str] = []  # packs that are moved once their content is stored elsewhere
        self._cold = cold
        self._storage = storage
        self._quarantine = quarantine
        self._log = log
        self._now = now
        self._pages: list[PixelPage] = []  # of all packs that will be indexed
        self._rows: dict[str, PackRow] = {}

    def adopt(self, names: Sequence[str], sealed: ManifestFacts) -> None:
        """Deletes or indexes these packs; `sealed` are the facts of those that have a manifest."""
        for name in sorted(names, key=lambda name: ("pack", name) not in sealed.facts):
            self._inspect(name, sealed)
        if self._rows:
            self._index_packs(sealed)
        for name in self._packs_to_quarantine:
            self._quarantine_pack(name)
        for name in self._packs_to_delete:
            self._delete_pack(name)

    def _index_packs(self, sealed: ManifestFacts) -> None:
        found = self._facts(sealed)
        self._quarantine.copy_database(self._cold)
        missing = self._cold.read(lambda db: missing_facts(db, found, {}))
        terms = self._terms(missing)

        def transaction(db: apsw.Connection) -> None:
            write_facts(db, missing, terms)
            resolve_double_storage(db)
            seal(db, self._storage, [*self._rows, ""])

        self._cold.write(transaction)
        entries = sum(key[0] == "entry" for key in missing)
        self._log.mended.append(
            f"{len(self._rows):,} packs added to the index: {len(self._pages):,} pages, {entries:,} entries."
        )

    def _inspect(self, name: str, sealed: ManifestFacts) -> None:
        if name in sealed.foreign:
            self._log.lost.append(f"Pack {name} belongs to another workspace: not changed.")
            return
        body = self._body(name, sealed)
        if (newer := self._newer(name)) and _is_as_written(name, body, sealed):
            self._log.lost.append(f"Pack {name}: {newer}")
            return
        sound = self._without_deleted(name, list(salvaged_pages(body)) if body else [], sealed)
        sound = self._without_forgotten(name, sound, sealed)
        if not sound and name in self._packs_to_delete:
            self._log.mended.append(f"Pack {name}: its content had been deleted or forgotten; the pack is now deleted.")
            return
        if sound and self._cold.read(
            lambda db: all(_is_stored_elsewhere(db, self._storage, name, saved_page, sealed) for saved_page in sound)
        ):
            then = (
                "its other content had been forgotten; the pack is now deleted"
                if name in self._packs_to_delete
                else "it was moved aside"
            )
            self._log.mended.append(f"Pack {name}: all its text exists elsewhere; {then}.")
            if name not in self._packs_to_delete:
                self._packs_to_quarantine.append(name)
            return
        drawn = self._redraw(name, sound, sealed)
        saved = [saved_page for saved_page in [*sound, *drawn] if not self._has_conflicting_id(name, saved_page)]
        if not saved:
            self._log.lost.append(f"Pack {name}: {newer or 'no page in it can be brought into the index.'}")
            return
        if {(saved_page.page.page_id, saved_page.page.text) for saved_page in saved} <= {
            (page.id, page.text) for page in self._pages
        }:
            if name not in self._packs_to_delete:
                self._packs_to_quarantine.append(name)  # another repair was cut short after it had written this pack
            return
        positions = None if drawn or name in self._packs_to_delete else self._positions(name, saved)
        if positions is None:
            if name not in self._packs_to_delete:
                self._packs_to_quarantine.append(name)
            name, positions = self._rewrite(name, saved, sealed)
        self._rows[name] = self._rows.get(name) or _row(name, self._storage, self._now)
        self._pages += [pixel_page(saved_page, name, positions[saved_page.page.page_id]) for saved_page in saved]

    def _newer(self, name: str) -> str:
        """Why the pack is left to a newer program; "" where its version is known."""
        try:
            refuse_newer(self._storage, name)
        except NewerPack as error:
            return f"{error.message} {error.hint}"
        return ""

    def _without_deleted(self, name: str, sound: list[SalvagedPage], sealed: ManifestFacts) -> list[SalvagedPage]:
        """Without pages of deleted conversations: those that no manifest mentions any more."""
        remaining = [
            salvaged
            for salvaged in sound
            if salvaged.page.page_id not in self._deleted.pages or ("page", salvaged.page.page_id) in sealed.facts
        ]
        if len(remaining) < len(sound):
            self._packs_to_delete.append(name)
        return remaining

    def _without_forgotten(self, name: str, sound: list[SalvagedPage], sealed: ManifestFacts) -> list[SalvagedPage]:
        """Without pages that hold what was forgotten, where their other texts are stored elsewhere. The other such
        pages are indexed, so that a forgetting brings their texts to the store. In no case a copy of the pack is kept.
        """
        holding = list(filter(self._forgotten.holds, sound))
        if holding and name not in self._packs_to_delete:
            self._packs_to_delete.append(name)
        needless = [
            saved
            for saved in holding
            if self._cold.read(lambda db, saved=saved: _is_stored_elsewhere(db, self._storage, name, saved, sealed))
        ]
        for saved in needless:
            sealed.facts.pop(("page", saved.page.page_id), None)
        return [saved for saved in sound if saved not in needless]

    def _delete_pack(self, name: str) -> None:
        for file in [*parts_of(manifest_name(name), self._storage.names()), parity_name(name), name]:
            self._storage.delete(file)

    def _redraw(self, name: str, sound: Sequence[SalvagedPage], sealed: ManifestFacts) -> list[SalvagedPage]:
        """Pages that the manifest mentions and the pack has lost, redrawn from stored text."""
        have = {other.page.page_id for other in sound}
        pack_pages = [fields for key, fields in sealed.facts.items() if key[0] == "page" and fields["pack"] == name]
        redrawn: list[SalvagedPage] = []
        for fields in sorted(pack_pages, key=lambda fields: fields["number"]):
            if fields["id"] in have:
                continue
            archive = fields["archive"]
            label = sealed.facts.get(("archive", str(archive)), {}).get("label", "")
            archive_pages = (
                other for key, other in sealed.facts.items() if key[0] == "page" and other["archive"] == archive
            )
            start = sum(other["chars"] for other in archive_pages if other["number"] < fields["number"])
            image = PageImage(fields["id"], fields["number"], fields["mode"], fields["chars"], fields["sha256"], b"")
            if (picture := redraw_page(self._kept_texts, label, start, image, fields["cell"])) is not None:
                redrawn.append(SalvagedPage(picture.png, read_picture(picture.png, engine="cells")))
        if redrawn:
            self._log.mended.append(f"Pack {name}: {len(redrawn):,} pages redrawn from stored text.")
        return redrawn

    def _has_conflicting_id(self, name: str, saved: SalvagedPage) -> bool:
        """Whether another page has this page's id: then one of the two is forged, and this one counts as foreign."""
        page, sql = saved.page.page_id, "SELECT 1 FROM pages WHERE id = ? AND sha256 <> ?"
        conflicts = any(other.id == page and other.text != saved.page.text for other in self._pages)
        if conflicts or self._cold.read(lambda db: first(db, sql, (page, text_digest(saved.page.text)))) is not None:
            self._log.lost.append(f"Pack {name}: another page already has the id {page}; this one was skipped.")
            return True
        return False

    def _body(self, name: str, sealed: ManifestFacts) -> bytes:
        """The pack's bytes, recovered where its manifest has its hash and its parity exists."""
        if self._storage.size(name) > LARGEST_PACK:
            return b""
        body, fact = self._storage.read(name), sealed.facts.get(("pack", name))
        if fact is None or _is_as_written(name, body, sealed):
            return body
        whole = recover_pack(self._storage, name, bytes.fromhex(fact["sha256"]), fact["size"])
        if whole is None:
            return body
        self._quarantine.copy_file(self._storage, name)
        self._storage.write(name, whole)
        self._log.mended.append(f"Pack {name}: repaired from parity data, bit for bit.")
        return whole

    def _positions(self, name: str, saved: Sequence[SalvagedPage]) -> dict[str, int] | None:
        """Position of each page by the pack's own list; None where the list is damaged, or of other pages."""
        try:
            pages = Pack(self._storage, name).pages
        except MemoryFailure:
            return None
        positions = {page.id: position for position, page in enumerate(pages)}
        return positions if positions.keys() == {salvaged.page.page_id for salvaged in saved} else None

    def _rewrite(self, name: str, saved: Sequence[SalvagedPage], sealed: ManifestFacts) -> tuple[str, dict[str, int]]:
        """A new pack of the sound pages; the damaged one is copied to quarantine and deleted."""
        pictures = [_picture(salvaged) for salvaged in saved]
        written = write_pack(self._storage, new_pack_name(), pictures)
        listed = {key[1] for key, fields in sealed.facts.items() if key[0] == "page" and fields["pack"] == name}
        for page in sorted(listed - {picture.id for picture in pictures}):
            self._log.lost.append(f"Page {page} of pack {name} is lost: its pixels cannot be read.")
        self._log.mended.append(f"Pack {name}: {len(pictures):,} intact pages moved to the new pack {written.name}.")
        self._rows[written.name] = PackRow(written.name, written.size, written.sha256, to_ms(self._now))
        return written.name, {picture.id: position for position, picture in enumerate(pictures)}

    def _quarantine_pack(self, name: str) -> None:
        """Moves the pack and the files beside it to quarantine."""
        for file in [*parts_of(manifest_name(name), self._storage.names()), parity_name(name), name]:
            if file in self._storage.names():
                self._quarantine.copy_file(self._storage, file)
                self._storage.delete(file)

    def _facts(self, sealed: ManifestFacts) -> dict[Key, Fields]:
        """Facts of the adopted packs: from the manifest where it mentions the page, else from pixels."""
        pages = {page.id: page for page in self._pages}
        listed = {key[1] for key in sealed.facts if key[0] == "page" and key[1] in pages}
        known = self._cold.read(lambda db: set(page_rows.pages_by_id(db, pages)))
        facts = facts_of_pixels([page for page in self._pages if page.id not in listed | known], self._now)
        for key, fields in sealed.facts.items():
            if key[0] == "page" and key[1] in listed:
                page = pages[key[1]]
                facts[key] = fields | {"pack": page.pack, "position": page.position}
            elif (
                (key[0] in ("held", "passage") and fields["page"] in listed)
                or (key[0] == "entry" and any(span[2] in listed for span in fields["spans"]))
                or key[0] in ("archive", "conversation")
            ):
                facts[key] = self._forgotten.names(key, fields)
        for name, row in self._rows.items():
            facts["pack", name] = {
                "size": row.size,
                "sha256": row.sha256.hex(),
                "kind": sealed.facts.get(("pack", name), {}).get("kind", "warm"),
                "created_ms": sealed.facts.get(("pack", name), {}).get("created_ms", row.created_ms),
            }
        return self._without_missing_pages(facts)

    def _without_missing_pages(self, facts: dict[Key, Fields]) -> dict[Key, Fields]:
        """Facts without spans on missing pages. An entry keeps its other spans."""
        found: dict[Key, Fields] = {}
        for key, fields in facts.items():
            if key[0] != "entry":
                found[key] = fields
                continue
            spans = [span for span in fields["spans"] if self._page_exists(facts, span[2])]
            if len(spans) < len(fields["spans"]):
                when = iso(from_ms(fields["time_ms"]))
                how = "a part of its text is" if spans else "it is"
                self._log.lost.append(f"Entry {fields['id']} of {when}: {how} lost with its page.")
            if spans:
                found[key] = fields | {"spans": tuple(spans)}
        return found

    def _page_exists(self, facts: dict[Key, Fields], page: str) -> bool:
        sql = "SELECT 1 FROM pages WHERE id = ?"
        return ("page", page) in facts or self._cold.read(lambda db: first(db, sql, (page,))) is not None

    def _terms(self, missing: dict[Key, Fields]) -> dict[int, AnalysedTerms]:
        """Terms of each entry whose text can be assembled from these pages."""
        texts = {page.id: page.text for page in self._pages}
        terms: dict[int, AnalysedTerms] = {}
        for key, fields in missing.items():
            if key[0] == "entry" and all(span[2] in texts for span in fields["spans"]):
                text = "".join(texts[page][at : at + length] for _, length, page, at in fields["spans"])
                at = said_at(fields["kind"], fields["time_ms"])
                terms[fields["seq"]] = self._cold.analyse(text, fields["speaker"], readable_meta(fields["meta"]), at)
        return terms


def _is_as_written(name: str, body: bytes, sealed: ManifestFacts) -> bool:
    fact = sealed.facts.get(("pack", name))
    return fact is not None and hashlib.sha256(body).hexdigest() == fact["sha256"]


def _is_stored_elsewhere(
    db: apsw.Connection, storage: Storage, name: str, saved: SalvagedPage, sealed: ManifestFacts
) -> bool:
    """Whether all content of the page is stored elsewhere: on a sound page with this text, or in the store."""
    sha256 = text_digest(saved.page.text)
    if any(_is_sound(storage, row) for row in _pages_with(db, sha256) if row.pack != name):
        return True
    page = saved.page.page_id
    entries = [
        fields
        for key, fields in sealed.facts.items()
        if key[0] == "entry" and any(s[2] == page for s in fields["spans"])
    ]
    if entries:
        return all(is_stored(db, fields) for fields in entries)
    pieces = list(pieces_of(pixel_page(saved, "", 0)))
    return all(piece.head is not None and _stores_text(db, piece.head.id, piece.text) for piece in pieces)


def _pages_with(db: apsw.Connection, sha256: bytes) -> list[PageRow]:
    ids = [row[0] for row in fetch(db, "SELECT id FROM pages WHERE sha256 = ?", (sha256,))]
    return list(page_rows.pages_by_id(db, ids).values())


def _is_sound(storage: Storage, row: PageRow) -> bool:
    try:
        page = read_picture(
            Pack(storage, row.pack).png(row.position), sha256=row.sha256, page_id=row.id, engine="cells"
        )
    except MemoryFailure:
        return False
    return page.trust is Trust.EXACT


def _stores_text(db: apsw.Connection, id_: str, piece: str) -> bool:
    rows = fetch(db, "SELECT body, packed, chars FROM entries WHERE id = ? AND body IS NOT NULL", (id_,))
    return any(piece in unpack(body, packed, chars) for body, packed, chars in rows)


def _row(name: str, storage: Storage, now: datetime) -> PackRow:
    body = storage.read(name)
    return PackRow(name, len(body), hashlib.sha256(body).digest(), to_ms(now))


def _picture(saved: SalvagedPage) -> PageImage:
    page = pixel_page(saved, "", 0)
    return PageImage(page.id, page.number, page.mode, len(page.text), text_digest(page.text).hex(), saved.png)
