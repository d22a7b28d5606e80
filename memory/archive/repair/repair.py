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
    restore_workspace_id,
)
from memory.archive.packs.parity import SUFFIX as PARITY
from memory.archive.packs.parity import parity_is_sound, parity_name, write_parity
from memory.archive.packs.storage import LocalStorage, Storage
from memory.archive.packs.unknown_packs import SUFFIX as PACK
from memory.archive.packs.unknown_packs import unknown_pack_names
from memory.archive.repair.adopt import PackAdopter
from memory.archive.repair.check import check_archive, pack_is_sound
from memory.archive.repair.deleted import copy_tombstones, deleted_conversations
from memory.archive.repair.diff import differences, facts
from memory.archive.repair.entries import EntryTextReader
from memory.archive.repair.forgotten_pages import ForgottenPages
from memory.archive.repair.packs import PackRepairer, RepairLog
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.reconcile import (
    delete_dangling_rows,
    delete_unlisted_rows,
    index_facts,
    missing_facts,
    normalise_flags,
    read_manifest_facts,
    resolve_double_storage,
)
from memory.archive.repair.relocate import PackLocator
from memory.archive.repair.restore import write_facts
from memory.archive.rows import archives as archive_rows
from memory.archive.rows import pages as page_rows
from memory.archive.rows.checks import row_problems
from memory.archive.rows.facts import facts_of, seal
from memory.archive.rows.pages import PackRow
from memory.cold import ColdStore
from memory.cold.changes import IS_DERIVED, WRONGLY_DERIVED, note_change, put_terms
from memory.cold.encoding import readable_meta, unpack
from memory.cold.integrity.repair import FindText, repair_rows, repair_sealed_rows
from memory.cold.sql import fetch, run_many
from memory.errors import Damaged, MemoryFailure
from memory.forgotten.earlier import ForgottenEarlier
from memory.records import IntegrityProblem

_STALE = 3600  # seconds: an older temporary file has no writer any more

_SET_DERIVED = f"UPDATE terms SET derived = (SELECT {IS_DERIVED} FROM entries WHERE seq = ?1) WHERE entry = ?1"


class RepairResult(Struct, frozen=True, kw_only=True):
    """Repairs, losses (sentences), remaining problems of `check`, and the folder of the originals."""

    mended: tuple[str, ...]
    lost: tuple[str, ...]
    problems: tuple[IntegrityProblem, ...]
    kept_at: Path | None


def _no_text(_id: str, _sha256: bytes) -> str | None:
    return None


def repair(
    cold: ColdStore,
    storage: Storage,
    quarantine: Quarantine,
    now: datetime,
    *,
    kept_texts: Path | None = None,
    parity: int = 0,
    find_text: FindText = _no_text,
    release: Callable[[], None] | None = None,
) -> RepairResult:
    """Repairs the archive and its index. `parity` is the percent of parity to write.

    `find_text` gives the text of an entry whose page is lost, `release` deletes pages of deleted conversations. Entries
    that were forgotten and that an old pack brings back are to be forgotten again afterwards (memory.forget.again).
    """
    log = RepairLog([], [])
    rows = repair_rows(cold, find_text, lambda: quarantine.copy_database(cold))
    log.mended += [f"Entry {id_}: restored." for id_ in rows.mended]
    if count := repair_sealed_rows(cold, lambda: quarantine.copy_database(cold)):
        log.mended.append(f"The database: {count:,} rows with a flipped bit restored.")
    run = _RepairRun(cold, storage, quarantine, log)
    if message := restore_workspace_id(storage, lambda: quarantine.copy_file(storage, WORKSPACE)):
        log.mended.append(message)
    copy_tombstones(cold, storage)
    PackLocator(cold, storage, quarantine, log).relocate()
    run.rows_from_manifests()
    for row in cold.read(page_rows.pack_rows):
        PackRepairer(cold, storage, quarantine, log, kept_texts=kept_texts, find_text=find_text).repair(row)
    run.adopt_unknown_packs(now, kept_texts)
    if release is not None:
        run.delete_orphaned_pages(release)
    run.manifests_from_rows()
    run.terms_from_texts()
    run.derived_flags()
    run.parity_of_packs(parity)
    _clear_temporary(storage, log)
    problems = [*cold.check(), *check_archive(cold, storage)]
    return RepairResult(
        mended=tuple(log.mended), lost=tuple(log.lost), problems=tuple(problems), kept_at=quarantine.place
    )


class _RepairRun:
    def __init__(self, cold: ColdStore, storage: Storage, quarantine: Quarantine, log: RepairLog) -> None:
        self._cold = cold
        self._storage = storage
        self._quarantine = quarantine
        self._log = log

    def rows_from_manifests(self) -> None:
        """Updates the index to the manifests of its packs, and restores lost rows."""
        known = self._cold.read(index_facts)
        sealed = read_manifest_facts(
            self._storage, [*self._cold.read(_packs), ""], known, deleted_conversations(self._cold, self._storage)
        )
        missing = self._cold.read(lambda db: missing_facts(db, sealed.facts, known))
        if not missing and not self._cold.read(_breaks_a_rule):
            return
        texts = EntryTextReader(self._storage, sealed.facts)
        entries = [fields for key, fields in missing.items() if key[0] == "entry"]
        terms = {
            fields["seq"]: entry_terms for fields in entries if (entry_terms := texts.terms_of(self._cold, fields))
        }
        for fields in entries:
            before = known.get(("entry", str(fields["seq"])))
            if before and before["sent"] != fields["sent"]:
                self._log.lost.append(f"Entry {fields['id']}: its attached data is damaged and was removed.")
        self._quarantine.copy_database(self._cold)

        def transaction(db: apsw.Connection) -> int:
            write_facts(db, missing, terms)
            delete_unlisted_rows(db, sealed, known)
            resolve_double_storage(db)
            normalise_flags(db)
            delete_dangling_rows(db, self._storage.names())
            return len(missing)

        count = self._cold.write(transaction)
        self._log.mended.append(f"The index: {count:,} values corrected from the manifests.")

    def adopt_unknown_packs(self, now: datetime, kept_texts: Path | None) -> None:
        """Adopts packs without a row."""
        known = {*self._cold.read(_packs), *self._cold.read(_announced_packs)}
        names = unknown_pack_names(self._storage.names(), known)
        if names:
            deleted = deleted_conversations(self._cold, self._storage)
            sealed = read_manifest_facts(self._storage, [*names, ""], {}, deleted)
            forgotten = ForgottenEarlier.beside(self._cold.database)
            adopter = PackAdopter(
                self._cold,
                self._storage,
                self._quarantine,
                self._log,
                now=now,
                kept_texts=kept_texts,
                deleted=deleted,
                forgotten=ForgottenPages(self._cold, forgotten, sealed.facts),
            )
            adopter.adopt(names, sealed)

    def delete_orphaned_pages(self, release: Callable[[], None]) -> None:
        """Deletes pages of deleted conversations, left by an older program or a crash."""
        archives, pages = self._cold.read(archive_rows.orphans)
        if not archives and not pages:
            return
        with suppress(MemoryFailure):
            release()
            self._log.mended.append(f"A deletion was finished: {len(pages):,} pages deleted.")

    def manifests_from_rows(self) -> None:
        """Rewrites each pack's manifest from its rows; quarantines manifests without a pack."""
        packs = self._cold.read(_packs)
        names = self._storage.names()
        for pack in [*packs, ""]:
            known = self._cold.read(lambda db, pack=pack: facts_of(db, pack))
            if _manifest_agrees(self._storage, pack, names, known):
                continue
            for part in parts_of(manifest_name(pack), names):
                self._quarantine.copy_file(self._storage, part)
            self._cold.write(lambda db, pack=pack: seal(db, self._storage, [pack]))
            self._log.mended.append(f"Manifest {manifest_name(pack)}: rewritten from the index.")
        self._quarantine_orphans()

    def terms_from_texts(self) -> None:
        """Restores missing search terms of entries from their texts."""
        sql = """SELECT e.seq, e.body, e.packed, e.chars, e.speaker, e.meta FROM entries e
                 WHERE e.seq NOT IN (SELECT entry FROM terms) AND e.seq NOT IN (SELECT entry FROM answers)"""
        without_terms = self._cold.read(lambda db: fetch(db, sql))
        if not without_terms:
            return
        known = self._cold.read(index_facts)
        texts = EntryTextReader(self._storage, known)
        texts_by_seq: dict[int, tuple[str, str, dict[str, Any]]] = {}
        for seq, body, packed, chars, speaker, meta in without_terms:
            fact = known.get(("entry", str(seq)))
            with suppress(Damaged):
                text = unpack(body, packed, chars) if body is not None else texts.of(fact) if fact else None
                if text is not None:
                    texts_by_seq[seq] = (text, speaker, readable_meta(meta))
        self._quarantine.copy_database(self._cold)

        def transaction(db: apsw.Connection) -> None:
            for seq, (text, speaker, meta) in texts_by_seq.items():
                put_terms(db, seq, text, speaker, self._cold.analyse, meta)
            note_change(db, "change", texts_by_seq)
            seal(db, self._storage, _packs(db))

        self._cold.write(transaction)
        self._log.mended.append(f"Search: {len(texts_by_seq):,} entries re-indexed.")

    def derived_flags(self) -> None:
        """Sets right which rows of terms are of derived entries."""
        wrong = self._cold.read(lambda db: [seq for (seq,) in fetch(db, WRONGLY_DERIVED)])
        if not wrong:
            return
        self._quarantine.copy_database(self._cold)

        def transaction(db: apsw.Connection) -> None:
            run_many(db, _SET_DERIVED, [(seq,) for seq in wrong])
            note_change(db, "change", wrong)

        self._cold.write(transaction)
        self._log.mended.append(f"Search: duplicates of {len(wrong):,} entries recomputed.")

    def parity_of_packs(self, percent: int) -> None:
        """Rewrites damaged or foreign parity; where parity is configured, writes missing parity."""
        names = self._storage.names()
        for row in self._cold.read(page_rows.pack_rows):
            name = parity_name(row.name)
            if (name not in names and not percent) or not _is_sound(self._storage, row):
                continue
            with suppress(Damaged):
                if name in names and parity_is_sound(self._storage, row.name, row.sha256):
                    continue
            if name in names:
                self._quarantine.copy_file(self._storage, name)
            write_parity(self._storage, row.name, percent or 10)
            self._log.mended.append(f"Parity {name}: recreated.")

    def _quarantine_orphans(self) -> None:
        """Manifests and parity files without a pack, of which the index has no row either."""
        stems = {name.partition(".")[0] for name in [*self._cold.read(_packs), manifest_name("")]}
        names = self._storage.names()
        stems |= {name.partition(".")[0] for name in names if name.endswith(PACK)}
        for name in [*manifest_names(self._storage), *(name for name in names if name.endswith(PARITY))]:
            if name.partition(".")[0] not in stems:
                self._quarantine.copy_file(self._storage, name)
                self._storage.delete(name)
                self._log.mended.append(f"{name}: its pack is missing; moved aside.")


def _packs(db: apsw.Connection) -> list[str]:
    """Packs in the index, those named only by their pages included."""
    return [row[0] for row in fetch(db, "SELECT name FROM packs UNION SELECT pack FROM pages")]


def _breaks_a_rule(db: apsw.Connection) -> bool:
    """Whether a row breaks a rule; leftovers of a deletion do not count."""
    return any(problem.what != "deletion" for problem in row_problems(db))


def _announced_packs(db: apsw.Connection) -> list[str]:
    return [row[0] for row in fetch(db, "SELECT name FROM leaving")]


def _manifest_agrees(storage: Storage, pack: str, names: Sequence[str], known: PackManifest | None) -> bool:
    """Whether the manifest, or its absence, agrees with the rows."""
    try:
        parts = read_parts(storage, pack, names)
    except MemoryFailure:
        return False
    sealed = {key: fields for part in parts for key, fields in facts(part).items()}
    indexed = facts(known) if known else {}
    return bool(parts) == (known is not None) and not list(differences(indexed, sealed))


def _is_sound(storage: Storage, row: PackRow) -> bool:
    try:
        return pack_is_sound(storage, row)
    except MemoryFailure:
        return False


def _clear_temporary(storage: Storage, log: RepairLog) -> None:
    """Deletes temporary files that a killed writer left in the folder of packs."""
    if not isinstance(storage, LocalStorage):
        return
    for path, found in scan(storage.folder, ".*.tmp"):
        if time.time() - found.st_mtime > _STALE:
            remove(path, missing_ok=True)
            log.mended.append(f"{path.name}: abandoned temporary file; deleted.")
