"""Integrity check of the checkpoints, each line of the journal and each version that it names or that is there; and the
repair of the journal.

Nothing mends a version: a repair records it as lost, by hashes alone, and a later check is no failure for it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from agent.checkpoints.change import ChangedFile
from agent.checkpoints.checkpoints import Checkpoints
from agent.checkpoints.journal import Begun, Journal
from foundation.errors import PalimpsestError
from foundation.files import (
    exists,
    is_folder,
    list_files,
    list_folders,
    make_private_folder,
    read_bytes,
    write_atomically,
)
from foundation.terminal_text import visible
from memory.errors import Damaged
from memory.records import IntegrityProblem
from memory.versions.lost import Damage, LostPart, LostParts
from memory.versions.objects import Objects

_FOLDER: Final = "checkpoints"
_LOST: Final = "lost"
_JOURNAL: Final = Damage("journal", "")


class CheckpointProblem(Struct, frozen=True):
    """A problem; for a damaged version what it is that cannot be read, and since when a person knows of it."""

    problem: IntegrityProblem
    damage: Damage | None = None
    lost_since_ms: int | None = None


def check_checkpoints(folder: Path) -> tuple[IntegrityProblem, ...]:
    """The problems of `.palimpsest/checkpoints`. Changes nothing."""
    return tuple(one.problem for one in find_problems(folder) if one.lost_since_ms is None)


def find_problems(folder: Path) -> tuple[CheckpointProblem, ...]:
    """The same, with what was recorded as lost."""
    try:
        since = LostParts(folder / _LOST).since() if is_folder(folder) else {}
        return tuple(
            structs.replace(one, lost_since_ms=since.get(one.damage)) if one.damage else one
            for one in _problems(folder)
        )
    except (PalimpsestError, OSError) as error:
        reason = error.message if isinstance(error, PalimpsestError) else f"{error.strerror}."
        return (CheckpointProblem(IntegrityProblem("checkpoints", _FOLDER, f"They cannot be read: {reason}")),)


def record_lost(checkpoints: Checkpoints, now_ms: int) -> list[IntegrityProblem]:
    """Records damaged versions as lost, and takes up a journal that was emptied or deleted as an empty one; gives what
    nobody knew of. Of what is whole again the record is dropped. Raises PalimpsestError, OSError."""
    folder = checkpoints.folder
    if not is_folder(folder):
        return []
    with checkpoints.locked():
        damaged = [one for one in find_problems(folder) if one.damage is not None]
        new = [one.problem for one in damaged if one.lost_since_ms is None]
        if damaged or exists(folder / _LOST):
            parts = [LostPart(one.damage, one.lost_since_ms or now_ms) for one in damaged if one.damage]
            LostParts(folder / _LOST).write(part for part in parts if part.damage != _JOURNAL)
        if any(one.damage == _JOURNAL for one in damaged):
            checkpoints.journal.rewrite(())
    return new


def _journal_problem(folder: Path, journal: Journal, has_versions: bool) -> Iterator[CheckpointProblem]:
    """The journal that is gone or was emptied."""
    name = f"{_FOLDER}/journal.jsonl"
    if not exists(folder / "journal.jsonl"):
        if has_versions or journal.is_emptied:
            what = "It is missing, although file versions exist." if has_versions else "It no longer exists."
            yield CheckpointProblem(IntegrityProblem("journal", name, what), _JOURNAL)
    elif journal.is_emptied:
        what = "It is empty, although it contained file changes: they cannot be undone."
        yield CheckpointProblem(IntegrityProblem("journal", name, what), _JOURNAL)


def _problems(folder: Path) -> Iterator[CheckpointProblem]:
    if not exists(folder):
        return
    if not is_folder(folder):
        what = "It is not a folder: file changes cannot be undone."
        yield CheckpointProblem(IntegrityProblem("checkpoints", _FOLDER, what))
        return
    journal = Journal(folder / "journal.jsonl")
    content = journal.content()
    if content.damage:
        consequence = "/undo works back to that point, and no checkpoint is deleted."
        problem = IntegrityProblem("journal", f"{_FOLDER}/journal.jsonl", f"{content.damage}: {consequence}")
        yield CheckpointProblem(problem)
    there = {place.name for shard in list_folders(folder / "blobs") for place in list_files(shard, "[!.]*")}
    yield from _journal_problem(folder, journal, bool(there))
    needed: dict[str, ChangedFile] = {}
    for line in content.lines:
        for file in line.record.files if isinstance(line, Begun) else ():
            needed |= {name: file for name in (file.before, file.after) if name}
    blobs = Objects(folder / "blobs", "checkpoint")
    for name in sorted(there | set(needed)):
        try:
            blobs.get(name)
        except (PalimpsestError, OSError) as error:
            reason = error.message if isinstance(error, PalimpsestError) else f"{error.strerror}."
            file = needed.get(name)
            of = f" It is a version of {visible(file.path)}, which cannot be undone past it." if file else ""
            problem = IntegrityProblem("version", f"{_FOLDER}/blobs/{name[:2]}/{name}", reason + of)
            damage = Damage(name, blobs.stored_digest(name)) if isinstance(error, Damaged) else None
            yield CheckpointProblem(problem, damage)


def set_aside_unreadable(checkpoints: Checkpoints, kept: Path) -> str:
    """Takes the unreadable lines out of the journal, of which a copy is put into the folder `kept` first; a sentence,
    "" where all can be read. Raises PalimpsestError, OSError."""
    folder = checkpoints.folder
    if not is_folder(folder) or not checkpoints.journal.content().damage:
        return ""
    with checkpoints.locked():
        journal = folder / "journal.jsonl"
        content = checkpoints.journal.content()
        begun = {line.record.id for line in content.lines if isinstance(line, Begun)}
        make_private_folder(kept)
        write_atomically(kept / journal.name, read_bytes(journal, owned=True))
        checkpoints.journal.rewrite(line for line in content.lines if isinstance(line, Begun) or line.id in begun)
    count = len(content.unreadable)
    return f"{count} line{'s' * (count != 1)} of the checkpoint journal: the changes in them cannot be undone."
