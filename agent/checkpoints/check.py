"""Integrity check of the checkpoints, each line of the journal and each version that it names or that is there; and the
repair of the journal."""

from collections.abc import Iterator
from pathlib import Path

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
from memory.records import IntegrityProblem
from memory.versions.objects import Objects

_FOLDER = "checkpoints"


def check_checkpoints(folder: Path) -> tuple[IntegrityProblem, ...]:
    """The problems of `.palimpsest/checkpoints`. Changes nothing."""
    try:
        return tuple(_problems(folder))
    except (PalimpsestError, OSError) as error:
        reason = error.message if isinstance(error, PalimpsestError) else f"{error.strerror}."
        return (IntegrityProblem("checkpoints", _FOLDER, f"They cannot be read: {reason}"),)


def _problems(folder: Path) -> Iterator[IntegrityProblem]:
    if not exists(folder):
        return
    if not is_folder(folder):
        yield IntegrityProblem("checkpoints", _FOLDER, "It is not a folder: no change of files can be undone.")
        return
    content = Journal(folder / "journal.jsonl").content()
    if content.damage:
        consequence = "/undo goes back to that point, and no checkpoint is removed."
        yield IntegrityProblem("journal", f"{_FOLDER}/journal.jsonl", f"{content.damage}: {consequence}")
    there = {place.name for shard in list_folders(folder / "blobs") for place in list_files(shard, "[!.]*")}
    if there and not exists(folder / "journal.jsonl"):
        yield IntegrityProblem("journal", f"{_FOLDER}/journal.jsonl", "It is not there, though versions of files are.")
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
            yield IntegrityProblem("version", f"{_FOLDER}/blobs/{name[:2]}/{name}", reason + of)


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
    return (
        f"{count} line{'s' * (count != 1)} of the journal of checkpoints: what they said of changes cannot be undone."
    )
