"""`check --repair`: repairs damaged parts from sound ones, after a copy to quarantine.

Order: rows by their seals, rows from manifests, packs from parity or their sound pages, unknown packs, manifests from
rows, terms from texts. Each step is independent and ends with a transaction: after a crash at any point nothing is
lost, and the next repair continues. Irreparable damage is reported, and left unchanged.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
from msgspec import Struct

from foundation.files import remove, scan
from memory.archive.packs.manifest import (
    WORKSPACE,
    PackManifest,
    manifest_name,
    manifest_names,
    parts_of,
    read_parts,
    settle_workspace,
)
from memory.archive.packs.parity import SUFFIX as PARITY
from memory.archive.packs.parity import parity_is_sound, parity_name, write_parity
from memory.archive.packs.storage import LocalStorage, Storage
from memory.archive.packs.unknown_packs import SUFFIX as PACK
from memory.archive.packs.unknown_packs import unknown_pack_names
from memory.archive.repair.adopt import PackAdopter
from memory.archive.repair.check import inspect_all, pack_is_sound
from memory.archive.repair.deleted import dead, take_over
from memory.archive.repair.diff import differences, facts
from memory.archive.repair.entries import EntryTextReader
from memory.archive.repair.packs import PackRepairer, RepairLog
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.reconcile import clear_bogus, drop_extras, indexed, one_home, read_sealed, to_put, yes_or_no
from memory.archive.repair.relocate import PackLocator
from memory.archive.repair.restore import put_facts
from memory.archive.rows import archives as archive_rows
from memory.archive.rows import pages as page_rows
from memory.archive.rows.checks import row_problems
from memory.archive.rows.facts import facts_of, seal
from memory.archive.rows.pages import PackRow
from memory.cold import ColdStore
from memory.cold.changes import note_change, put_terms
from memory.cold.encoding import readable_meta, unpack
from memory.cold.integrity.repair import FindText, mend_rows, mend_sealed_rows
from memory.cold.sql import fetch
from memory.errors import Damaged, MemoryFailure
from memory.records import IntegrityProblem

_STALE = 3600  # seconds: a temporary file that old belongs to nobody


class RepairResult(Struct, frozen=True, kw_only=True):
    """Repairs, losses (sentences), remaining problems of `check`, and the folder of the originals."""

    mended: tuple[str, ...]
    lost: tuple[str, ...]
    problems: tuple[IntegrityProblem, ...]
    kept_at: Path | None


def _nowhere(_id: str, _sha256: bytes) -> str | None:
    return None


def repair(
    cold: ColdStore,
    storage: Storage,
    damages: Quarantine,
    now: datetime,
    *,
    kept_texts: Path | None = None,
    parity: int = 0,
    elsewhere: FindText = _nowhere,
    release: Callable[[], None] | None = None,
) -> RepairResult:
    """Repairs the archive and its index. `damages` is the quarantine, `parity` the percent of parity to write.

    `elsewhere` gives the text of an entry whose page is lost, `release` deletes pages of deleted conversations.
    """
    told = RepairLog([], [])
    rows = mend_rows(cold, elsewhere, lambda: damages.keep_database(cold))
    told.mended += [f"Entry {id_}: it is what was stored again." for id_ in rows.mended]
    if count := mend_sealed_rows(cold, lambda: damages.keep_database(cold)):
        told.mended.append(f"The database: {count:,} rows with a flipped bit are what was stored again.")
    work = _RepairRun(cold, storage, damages, told)
    if done := settle_workspace(storage, lambda: damages.keep_file(storage, WORKSPACE)):
        told.mended.append(done)
    take_over(cold, storage)
    PackLocator(cold, storage, damages, told).settle()
    work.rows_from_manifests()
    for row in cold.read(page_rows.pack_rows):
        PackRepairer(cold, storage, damages, told, kept_texts=kept_texts, elsewhere=elsewhere).mend(row)
    work.strangers(now, kept_texts)
    if release is not None:
        work.let_go_of_deleted(release)
    work.manifests_from_rows()
    work.terms_from_texts()
    work.parity_of_packs(parity)
    _clear_temporary(storage, told)
    problems = [*cold.check(), *inspect_all(cold, storage)]
    return RepairResult(
        mended=tuple(told.mended), lost=tuple(told.lost), problems=tuple(problems), kept_at=damages.place
    )


class _RepairRun:
    def __init__(self, cold: ColdStore, storage: Storage, damages: Quarantine, told: RepairLog) -> None:
        self._cold = cold
        self._storage = storage
        self._damages = damages
        self._told = told

    def rows_from_manifests(self) -> None:
        """Updates the index to the manifests of its packs, and restores lost rows."""
        known = self._cold.read(indexed)
        sealed = read_sealed(self._storage, [*self._cold.read(_packs), ""], known, dead(self._cold, self._storage))
        put = self._cold.read(lambda db: to_put(db, sealed.facts, known))
        if not put and not self._cold.read(_breaks_a_rule):
            return
        texts = EntryTextReader(self._storage, sealed.facts)
        entries = [fields for key, fields in put.items() if key[0] == "entry"]
        terms = {fields["seq"]: found for fields in entries if (found := texts.terms_of(self._cold, fields))}
        for fields in entries:
            before = known.get(("entry", str(fields["seq"])))
            if before and before["sent"] != fields["sent"]:
                self._told.lost.append(f"Entry {fields['id']}: what was sent along with it is damaged, and left out.")
        self._damages.keep_database(self._cold)

        def transaction(db: apsw.Connection) -> int:
            put_facts(db, put, terms)
            drop_extras(db, sealed, known)
            one_home(db)
            yes_or_no(db)
            clear_bogus(db, self._storage.names())
            return len(put)

        count = self._cold.write(transaction)
        self._told.mended.append(f"The index: {count:,} facts set right by what stands beside the packs.")

    def strangers(self, now: datetime, kept_texts: Path | None) -> None:
        """Adopts packs without a row."""
        known = {*self._cold.read(_packs), *self._cold.read(_leaving)}
        names = unknown_pack_names(self._storage.names(), known)
        if names:
            gone = dead(self._cold, self._storage)
            sealed = read_sealed(self._storage, [*names, ""], {}, gone)
            adopter = PackAdopter(
                self._cold, self._storage, self._damages, self._told, now=now, kept_texts=kept_texts, gone=gone
            )
            adopter.adopt(names, sealed)

    def let_go_of_deleted(self, release: Callable[[], None]) -> None:
        """Deletes pages of deleted conversations, left by an older program or a crash."""
        archives, pages = self._cold.read(archive_rows.orphans)
        if not archives and not pages:
            return
        with suppress(MemoryFailure):
            release()
            self._told.mended.append(f"A deletion is finished: {len(pages):,} pages of what was deleted were let go.")

    def manifests_from_rows(self) -> None:
        """Rewrites each pack's manifest from its rows; quarantines manifests without a pack."""
        packs = self._cold.read(_packs)
        names = self._storage.names()
        for pack in [*packs, ""]:
            known = self._cold.read(lambda db, pack=pack: facts_of(db, pack))
            if _tells(self._storage, pack, names, known):
                continue
            for part in parts_of(manifest_name(pack), names):
                self._damages.keep_file(self._storage, part)
            self._cold.write(lambda db, pack=pack: seal(db, self._storage, [pack]))
            self._told.mended.append(f"Manifest {manifest_name(pack)}: written anew from the index.")
        self._orphans()

    def terms_from_texts(self) -> None:
        """Restores missing search terms of entries from their texts."""
        sql = """SELECT e.seq, e.body, e.packed, e.chars, e.speaker, e.meta FROM entries e
                 WHERE e.seq NOT IN (SELECT entry FROM terms) AND e.seq NOT IN (SELECT entry FROM answers)"""
        bare = self._cold.read(lambda db: fetch(db, sql))
        if not bare:
            return
        known = self._cold.read(indexed)
        texts = EntryTextReader(self._storage, known)
        found: dict[int, tuple[str, str, dict[str, Any]]] = {}
        for seq, body, packed, chars, speaker, meta in bare:
            fact = known.get(("entry", str(seq)))
            with suppress(Damaged):
                text = unpack(body, packed, chars) if body is not None else texts.of(fact) if fact else None
                if text is not None:
                    found[seq] = (text, speaker, readable_meta(meta))
        self._damages.keep_database(self._cold)

        def transaction(db: apsw.Connection) -> None:
            for seq, (text, speaker, meta) in found.items():
                put_terms(db, seq, text, speaker, self._cold.analyse, meta)
            note_change(db, "change", found)
            seal(db, self._storage, _packs(db))

        self._cold.write(transaction)
        self._told.mended.append(f"Search: {len(found):,} entries can be found again.")

    def parity_of_packs(self, percent: int) -> None:
        """Rewrites damaged or foreign parity; where parity is configured, writes missing parity."""
        names = self._storage.names()
        for row in self._cold.read(page_rows.pack_rows):
            name = parity_name(row.name)
            if (name not in names and not percent) or not _is_whole(self._storage, row):
                continue
            with suppress(Damaged):
                if name in names and parity_is_sound(self._storage, row.name, row.sha256):
                    continue
            if name in names:
                self._damages.keep_file(self._storage, name)
            write_parity(self._storage, row.name, percent or 10)
            self._told.mended.append(f"Parity {name}: made again.")

    def _orphans(self) -> None:
        """Manifests and parity files without a pack, of which the index has no row either."""
        stems = {name.partition(".")[0] for name in [*self._cold.read(_packs), manifest_name("")]}
        names = self._storage.names()
        stems |= {name.partition(".")[0] for name in names if name.endswith(PACK)}
        for name in [*manifest_names(self._storage), *(name for name in names if name.endswith(PARITY))]:
            if name.partition(".")[0] not in stems:
                self._damages.keep_file(self._storage, name)
                self._storage.delete(name)
                self._told.mended.append(f"{name}: its pack is not here; it was put aside.")


def _packs(db: apsw.Connection) -> list[str]:
    """Packs in the index, those named only by their pages included."""
    return [row[0] for row in fetch(db, "SELECT name FROM packs UNION SELECT pack FROM pages")]


def _breaks_a_rule(db: apsw.Connection) -> bool:
    """Whether a row breaks a rule; leftovers of a deletion do not count."""
    return any(one.what != "deletion" for one in row_problems(db))


def _leaving(db: apsw.Connection) -> list[str]:
    return [row[0] for row in fetch(db, "SELECT name FROM leaving")]


def _tells(storage: Storage, pack: str, names: Sequence[str], known: PackManifest | None) -> bool:
    """Whether the manifest, or its absence, agrees with the rows."""
    try:
        parts = read_parts(storage, pack, names)
    except MemoryFailure:
        return False
    sealed = {key: fields for one in parts for key, fields in facts(one).items()}
    told = facts(known) if known else {}
    return bool(parts) == (known is not None) and not list(differences(told, sealed))


def _is_whole(storage: Storage, row: PackRow) -> bool:
    try:
        return pack_is_sound(storage, row)
    except MemoryFailure:
        return False


def _clear_temporary(storage: Storage, told: RepairLog) -> None:
    """Deletes temporary files that a killed writer left in the folder of packs."""
    if not isinstance(storage, LocalStorage):
        return
    for path, found in scan(storage.folder, ".*.tmp"):
        if time.time() - found.st_mtime > _STALE:
            remove(path, missing_ok=True)
            told.mended.append(f"{path.name}: a temporary file that nobody writes any more; deleted.")
