"""What a person is told beside a deletion."""

import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from foundation.files import read_bytes, scan
from foundation.paths import Workspace
from foundation.program import PROGRAM
from memory.errors import MemoryFailure
from memory.memory import Memory

LARGEST = 2**24  # bytes of a copy that is looked into


def deletion_of(memory: Memory, id_: str) -> datetime | None:
    """When the conversation of that id was deleted; None where none was."""
    return memory.conversations.deleted_at(id_)


def let_go_by_search(memory: Memory) -> str:
    """Takes what was deleted out of the search's files, where it has any; a sentence where some of it stays."""
    workspace = memory.workspace
    if not workspace.postings.is_dir() and not workspace.vectors.is_dir():
        return ""
    memory.search.update()
    troubles = [each for each in (memory.search.trouble, memory.search.vectors.trouble) if each]
    return f"The search's files may hold its words still. {' '.join(troubles)}" if troubles else ""


def let_go_by_mirrors(memory: Memory) -> str:
    """Writes the mirrors anew that held words of what was deleted; a sentence where one cannot be written."""
    try:
        memory.mirrors.renew()
    except (MemoryFailure, OSError) as error:
        return (
            f"Mirrors in {memory.workspace.conversations} may hold its words still, and could not be written: {error}"
        )
    return ""


def results_left(ids: Sequence[str]) -> str:
    """A sentence where results of memory tools may hold its words and could not be read; "" where there are none."""
    if not ids:
        return ""
    named = ", ".join(ids[:20])
    return (
        f"{len(ids):,} results of memory tools in other conversations may hold its words still, for their pages could "
        f"not be read: {named}. `{PROGRAM} check --repair`, or delete their conversations."
    )


def copies_of(workspace: Workspace, id_: str) -> str:
    """A sentence where copies from before a change may hold its words; "" where there are none."""
    places = [str(place) for place in (*_damaged(workspace), *_versions(workspace, id_))]
    if not places:
        return ""
    return (
        f"Copies from before a change may hold its words still, and were left: delete {' and '.join(places)} yourself."
    )


def _damaged(workspace: Workspace) -> Iterator[Path]:
    if scan(workspace.damaged):
        yield workspace.damaged


def _versions(workspace: Workspace, id_: str) -> Iterator[Path]:
    """The folder of versions, where one of them is of the conversation's mirror."""
    if any(_names(file, size, id_) for file, size in _files_below(workspace.versions)):
        yield workspace.versions


def _files_below(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every file in the folder and those below it, with its size in bytes; no link is followed."""
    for path, found in scan(folder):
        if stat.S_ISDIR(found.st_mode):
            yield from _files_below(path)
        elif stat.S_ISREG(found.st_mode):
            yield path, found.st_size


def _names(file: Path, size: int, id_: str) -> bool:
    return id_ in file.name or (size <= LARGEST and id_.encode("utf-8", "surrogatepass") in read_bytes(file))
