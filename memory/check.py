"""Integrity check of a workspace, and its repair."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct

from foundation.clock import from_ms, iso
from foundation.figures import counted
from foundation.files import UnsafePath, list_files, list_folders, read_bytes, remove
from foundation.names import DRAFT, MIRROR, Grammar
from foundation.paths import LINKABLE_FILES, Workspace, is_draft_name
from foundation.privacy import clear
from foundation.program import PROGRAM
from memory.archive.repair.from_mirrors import MirrorRecovery, MissingTurns
from memory.archive.repair.quarantine import Quarantine
from memory.archive.repair.repair import repair
from memory.cold.integrity.forged_names import forged, remove_forged
from memory.cold.integrity.header import put_right
from memory.cold.integrity.salvage import salvage_store
from memory.cold.mirrors.mirrors import ChangedMirror
from memory.cold.mirrors.parse import misnamed_mirrors, read_mirrors
from memory.cold.named_versions import highest_named_version
from memory.cold.secret import repair_secret, secret_damages
from memory.errors import Damaged, MemoryFailure, StoreError
from memory.forget.again import came_back, forget_again
from memory.forgotten.earlier import ForgottenEarlier
from memory.forgotten.fingerprints import FORGOTTEN
from memory.forgotten.journal import ForgetJournal
from memory.forgotten.tombstones import TOMBSTONES, Tombstones
from memory.memory import Memory
from memory.names import shown
from memory.records import IntegrityProblem
from memory.settings import ArchiveSettings
from memory.versions.file_history import is_versioned
from memory.versions.lost import lost_sentence
from memory.versions.objects import MOST_BYTES
from memory.versions.store import VersionStore


class CheckReport(Struct, frozen=True, kw_only=True):
    """The problems; after a repair also the repairs, the losses, and the folder of the originals."""

    problems: tuple[IntegrityProblem, ...]
    pages: int
    mended: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    kept_at: Path | None = None
    notice: str = ""
    """Why it was only read, where its disk is full; "" otherwise."""
    known_lost: tuple["LostVersion", ...] = ()
    """Versions of files that a repair has named as lost before: no problems."""
    notes: tuple[str, ...] = ()
    """What a person may have done on purpose, as sentences: no problems."""

    def as_json(self) -> Mapping[str, Any]:
        """The object of `palimpsest check --json`, less its schema."""
        told = [
            {"what": one.what, "where": one.where, "message": one.message, "pages": list(one.pages)}
            for one in self.problems
        ]
        return {
            "sound": not self.problems,
            "pages": self.pages,
            "problems": told,
            "mended": list(self.mended),
            "lost": list(self.lost),
            "kept_at": str(self.kept_at) if self.kept_at else None,
            "known_lost": [{"message": one.message, "since": iso(from_ms(one.since_ms))} for one in self.known_lost],
            "notes": list(self.notes),
        }

    @property
    def known_lost_sentence(self) -> str:
        """How many versions are known to be lost, and since when; "" for none."""
        return lost_sentence(
            [one.since_ms for one in self.known_lost if not one.of_checkpoint for _ in range(one.count)]
        )

    @property
    def lost_checkpoints_sentence(self) -> str:
        """The same of versions that checkpoints hold."""
        sentence = lost_sentence([one.since_ms for one in self.known_lost if one.of_checkpoint])
        return f"Checkpoints: {sentence} /undo cannot go back past them." if sentence else ""


class LostVersion(Struct, frozen=True):
    """What is lost, as a sentence, since when a person knows, and how many versions it is. `of_checkpoint`: of a file
    that a tool changed."""

    message: str
    since_ms: int
    count: int = 1
    of_checkpoint: bool = False


def check(workspace: Workspace, settings: ArchiveSettings | None = None) -> CheckReport:
    """Checks the whole database, every pack, page and manifest. Changes nothing."""
    try:
        memory = Memory.open(workspace, settings=settings, reads_when_full=True)
    except Damaged as error:
        return CheckReport(problems=(IntegrityProblem("file", workspace.database.name, error.message),), pages=0)
    problems = list[IntegrityProblem]()
    try:
        problems += [IntegrityProblem("key", one.file, one.message) for one in secret_damages(workspace.secret)]
        problems += memory.cold.check()
        problems += memory.vault.check()
        problems += [one.problem for one in MirrorRecovery(workspace.conversations, memory.cold).missing()]
        problems += [one.problem for one in forged_files(workspace)]
        of_versions, known_lost = _version_problems(_stored_versions(memory))
        problems += of_versions
        problems += _lost_list(memory, _stored_versions(memory))
        problems += _forgetting_problems(workspace)
        problems += _came_back(memory)
        notice = memory.access.notice if memory.access and memory.workspace.unwritable else ""
        pages = len(memory.vault.pages())
        return CheckReport(
            problems=_without_duplicates(problems),
            pages=pages,
            notice=notice,
            known_lost=tuple(known_lost),
            notes=tuple(_mirror_notes(memory.mirrors.changed())),
        )
    except (Damaged, StoreError) as error:
        if not problems and not isinstance(error, Damaged):
            raise
        found = problems or [IntegrityProblem("file", workspace.database.name, error.message)]
        return CheckReport(problems=_without_duplicates(found), pages=0)
    finally:
        memory.close()


def _stored_versions(memory: Memory) -> VersionStore:
    """The versions that are in the workspace, also where it is only read: then none is looked for there elsewhere."""
    return VersionStore(memory.workspace.stored_versions, memory.cold.clock)


def _version_problems(store: VersionStore) -> tuple[list[IntegrityProblem], list[LostVersion]]:
    """What is damaged of the versions, and what a repair has named as lost before."""
    try:
        found = store.check()
    except OSError as error:  # a link, a file of another owner, or one that may not be read
        reason = error.message if isinstance(error, UnsafePath) else f"{error.strerror}."
        return [IntegrityProblem("version", "manifest", f"The versions cannot be read: {reason}")], []
    problems = [
        IntegrityProblem("version", str(one.version.number) if one.version else "manifest", one.message)
        for one in found
        if one.lost_since_ms is None
    ]
    known = [LostVersion(one.message, one.lost_since_ms, one.count) for one in found if one.lost_since_ms is not None]
    return problems, known


def _lost_list(memory: Memory, store: VersionStore) -> list[IntegrityProblem]:
    """Versions that results of tools name, and of which neither the list nor its head knows: all of it was deleted."""
    with suppress(OSError):  # which `_version_problems` names
        named, given = memory.cold.read(highest_named_version), store.highest_given()
        if named > given:
            what = f"A tool made version {named}, but the list ends at {given}: versions were deleted."
            return [IntegrityProblem("version", "manifest", what)]
    return []


def _forgetting_problems(workspace: Workspace) -> list[IntegrityProblem]:
    """What no longer keeps forgotten texts from coming back, and what is not forgotten yet."""
    written = ForgetJournal(workspace.forgotten).tombstones()
    damages = _tombstones(workspace).damages(written)
    found = [IntegrityProblem("tombstones", damage.file, damage.message) for damage in damages]
    return [*found, *_open_jobs(workspace)]


def _came_back(memory: Memory) -> list[IntegrityProblem]:
    """Forgotten entries that an old file brought back."""
    seqs = came_back(memory, ForgottenEarlier.beside(memory.cold.database))
    if not seqs:
        return []
    ids = [entry.id for entry in memory.conversations.entries(seqs[:_MOST_NAMED]).values()]
    where = ", ".join(ids) + " …" * (len(seqs) > _MOST_NAMED)
    message = f"It was forgotten but is here again. `{PROGRAM} check --repair` deletes it again."
    return [IntegrityProblem("forgetting", where, message)]


def _tombstones(workspace: Workspace) -> Tombstones:
    """The files alone: a check makes no key."""
    return Tombstones(workspace.database.with_name(TOMBSTONES), b"")


def _open_jobs(workspace: Workspace) -> list[IntegrityProblem]:
    message = f"A deletion is not finished: `{PROGRAM} forget` continues it."
    return [IntegrityProblem("forgetting", id_, message) for id_ in ForgetJournal(workspace.forgotten).open_ids()]


def check_and_repair(workspace: Workspace, now: datetime, settings: ArchiveSettings | None = None) -> CheckReport:
    """Checks and repairs; a copy of each damaged file is kept in `.palimpsest/damaged/`."""
    settings = settings or ArchiveSettings()
    mended, lost = list[str](), list[str]()
    quarantine = Quarantine(workspace.damaged, now)
    if header := put_right(workspace.database, quarantine.folder):
        mended.append(header)
    before = check(workspace, settings)
    if any(one.what == "file" for one in before.problems):
        found = salvage_store(workspace.database, quarantine.folder)
        broken = f": some of {', '.join(found.broken)}" if found.broken else ""
        if not found.rows or found.broken:
            lost.append(f"Rows of the database that could not be read{broken}.")
        mended.append(f"The database was rebuilt with {found.rows:,} rows.")
    memory = Memory.open(workspace, settings=settings)
    try:
        mended += _without_forged_names(memory, quarantine)
        mended += [quarantine_file(one, quarantine) for one in forged_files(workspace)]
        written = ForgetJournal(workspace.forgotten).tombstones()
        for done in (  # before what asks them
            repair_secret(workspace.secret, quarantine.copy_path),
            _tombstones(workspace).repair(quarantine.copy_path, written),
        ):
            mended += done[0]
            lost += done[1]
        memory.recover()
        mirrors = MirrorRecovery(workspace.conversations, memory.cold)
        result = repair(
            memory.cold,
            memory.vault.storage,
            quarantine,
            now,
            kept_texts=workspace.kept_texts,
            parity=settings.parity,
            find_text=mirrors.text,
            release=memory.vault.release,
        )
        mended += result.mended
        lost += result.lost
        for one in mirrors.missing():
            quarantine.copy_database(memory.cold)
            mirrors.restore([one])
            _report_restored(one, mended, lost)
        forgotten = ForgottenEarlier.beside(workspace.database)
        again = forget_again(memory, forgotten, now)
        mended += again[0]
        lost += again[1]
        problems = [*memory.cold.check(), *memory.vault.check()] if any(again) else result.problems
        mended += _without_forgotten_mirrors(workspace, forgotten)
        mended += _write_mirrors(memory)
        mended += memory.versions.store.mend(
            partial(_versioned_file, workspace), quarantine.copy_path, _versioned_names(workspace)
        )
        known_lost = _version_problems(memory.versions.store)[1]
        if lists := _lost_list(memory, memory.versions.store):
            memory.versions.store.reach(memory.cold.read(highest_named_version))
            lost += [one.message for one in lists]
        lost += [one.message for one in memory.versions.store.record_lost()]
        left = [*(one.problem for one in mirrors.missing()), *_open_jobs(workspace)]
        notes = tuple(_mirror_notes(memory.mirrors.changed()))
        pages = len(memory.vault.pages())
    finally:
        memory.close()
    return CheckReport(
        problems=_without_duplicates([*problems, *left]),
        pages=pages,
        mended=tuple(mended),
        lost=tuple(lost),
        kept_at=quarantine.place,
        known_lost=tuple(known_lost),
        notes=notes,
    )


def _mirror_notes(changed: Sequence[ChangedMirror]) -> Iterator[str]:
    """A sentence each about the mirrors that are not there and those that were edited, or are damaged."""
    for is_there, what, then in (
        (False, "missing", "rewrites {}, as does the next turn in the conversation."),
        (True, "changed: edited by hand, or damaged", "rewrites {} and saves the current text as a version."),
    ):
        names = [one.name for one in changed if one.is_there is is_there]
        if names:
            listed = ", ".join(names[:_MOST_NAMED]) + " …" * (len(names) > _MOST_NAMED)
            be, each = ("is", "it") if len(names) == 1 else ("are", "each")
            repairs = f"`{PROGRAM} check --repair` {then.format(each)}"
            yield f"{counted(len(names), 'mirror')} in conversations/ {be} {what} ({listed}). {repairs}"


_MOST_NAMED = 5


def _without_forgotten_mirrors(workspace: Workspace, forgotten: ForgottenEarlier) -> Iterator[str]:
    """Deletes old mirrors that hold what was forgotten, so that they are written anew and no copy of them is kept."""
    for mirror in read_mirrors(workspace.conversations) if forgotten else ():
        turns = (turn for turn in mirror.turns if turn.text.strip() != FORGOTTEN)
        name = clear(mirror.source), clear(mirror.id)
        is_given_up = forgotten.known_conversation(*name) != name
        if is_given_up or any(forgotten.has(mirror.source, mirror.id, turn.id) for turn in turns):
            remove(workspace.conversations / mirror.name, missing_ok=True)
            yield f"conversations/{mirror.name}: deleted, because it contained forgotten text."


def _write_mirrors(memory: Memory) -> Iterator[str]:
    """Writes mirrors anew that are not as they were written; gives a sentence for each."""
    for one in memory.mirrors.changed():
        with suppress(OSError, MemoryFailure):  # a link, or a file of another owner: it is named still
            memory.mirrors.update(one.conversation)
            kept = "; its previous text is saved in .palimpsest/versions" if one.is_there else ""
            yield f"conversations/{one.name}: rewritten from the database{kept}."


def _versioned_file(workspace: Workspace, name: str) -> bytes:
    """The file of which versions are kept, by its relative name. Raises OSError, PalimpsestError."""
    if not is_versioned(name):
        raise FileNotFoundError(name)
    first, *below = name.split("/")
    return read_bytes(workspace.followed(first).joinpath(*below), most=MOST_BYTES)


def _versioned_names(workspace: Workspace) -> list[str]:
    """The relative names of the files of which versions are kept."""
    notes = (f"memory/{path.name}" for path in list_files(workspace.memory_dir))
    skills = (f"skills/{folder.name}/SKILL.md" for folder in list_folders(workspace.skills))
    return [name for name in (*LINKABLE_FILES, *notes, *skills) if is_versioned(name)]


def _without_forged_names(memory: Memory, quarantine: Quarantine) -> list[str]:
    """Deletes rows with forged names; a copy of the database is kept first."""
    forged_names = memory.cold.read(lambda db: list(forged(db)))
    if not forged_names:
        return []
    quarantine.copy_database(memory.cold)
    memory.cold.write(remove_forged)
    return [f"{name.sentence} The row was removed." for name in forged_names]


def _report_restored(turns: MissingTurns, mended: list[str], lost: list[str]) -> None:
    where = turns.problem.where
    how = "times are exact to the minute, and roles of names may be guessed"
    mended.append(f"{where}: {turns.problem.message} They were restored from it; {how}.")
    for turn in turns.turns:
        if not turn.whole:
            lost.append(f"Entry {turn.id}: {where} has only a part of this tool's output.")


def _without_duplicates(problems: Iterable[IntegrityProblem]) -> tuple[IntegrityProblem, ...]:
    """Each location once, however many checks found it damaged."""
    named: dict[tuple[str, str], IntegrityProblem] = {}
    for problem in problems:
        named.setdefault((problem.what, problem.where), problem)
    return tuple(named.values())


_TEMPORARY = ".tmp"


class ForgedFile(Struct, frozen=True):
    """A draft or mirror under a name that this program never gives: the file, and the grammar that the name breaks."""

    path: Path
    grammar: Grammar

    @property
    def problem(self) -> IntegrityProblem:
        where = f"{self.path.parent.name}/{shown(self.path.name)}"
        return IntegrityProblem("name", where, f"The file does not have {self.grammar.noun}, and is not read.")


def forged_files(workspace: Workspace) -> list[ForgedFile]:
    """Drafts whose names fit no grammar, and files that claim to mirror a conversation under another name."""
    return [*_drafts(workspace), *_mirrors(workspace)]


def quarantine_file(one: ForgedFile, quarantine: Quarantine) -> str:
    """Moves the file into the repair's quarantine; gives a sentence about it."""
    kept = quarantine.move_in(one.path)
    return f"{one.problem.where}: {one.problem.message} It was moved to {kept.parent.name}/{kept.name}."


def _drafts(workspace: Workspace) -> Iterator[ForgedFile]:
    for path in list_files(workspace.drafts):
        is_ours = path.name.startswith(".") and path.name.endswith(_TEMPORARY)  # a write that was cut short
        if not is_ours and not is_draft_name(path.name):
            yield ForgedFile(path, DRAFT)


def _mirrors(workspace: Workspace) -> Iterator[ForgedFile]:
    for name in misnamed_mirrors(workspace.conversations):
        yield ForgedFile(workspace.conversations / name, MIRROR)
