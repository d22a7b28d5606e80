"""Deletion beyond the store: purges the search index and mirrors, and reports copies that are kept."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.clock import SystemClock
from foundation.files import read_bytes, scan, status
from foundation.paths import Workspace
from memory.errors import Damaged, MemoryFailure, NotFound
from memory.versions.store import VersionStore

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory
    from memory.records import Conversation

ARCHIVE_KIND = "archive"  # the kind of the conversations that hold archived texts
MAX_COPY_BYTES = 2**24  # a larger copy is not searched


def deletion_time(memory: Memory, id_: str) -> datetime | None:
    """When the conversation of that id was deleted; None where there was none."""
    return memory.conversations.deleted_at(id_)


def attached_archives(memory: Memory, conversation: Conversation) -> list[int]:
    """The conversations (their seqs) that hold archived attachments of this one's messages.

    None for an imported conversation: its metadata may name any.
    """
    from agent.turn.large_texts import archives_of

    if conversation.source:
        return []
    ids = {id_: None for entry in memory.conversations.all_entries(conversation.seq) for id_ in archives_of(entry)}
    found: list[Conversation] = []
    for id_ in ids:
        with suppress(NotFound):  # deleted by hand
            found.append(memory.conversations.find(id_))
    return [archive.seq for archive in found if archive.kind == ARCHIVE_KIND]


def purge_from_search(memory: Memory) -> str:
    """Purges deleted entries from the search's files, if any; a sentence where some remain, else ""."""
    workspace = memory.workspace
    if not workspace.postings.is_dir() and not workspace.vectors.is_dir():
        return ""
    memory.search.update()
    troubles = [trouble for trouble in (memory.search.trouble, memory.search.vectors.trouble) if trouble]
    return f"The search index may still contain its text. {' '.join(troubles)}" if troubles else ""


def purge_from_mirrors(memory: Memory) -> str:
    """Rewrites the mirrors that hold deleted text; a sentence where one cannot be written, else ""."""
    try:
        memory.mirrors.renew()
    except (MemoryFailure, OSError) as error:
        return (
            f"Readable copies in {memory.workspace.conversations} could not be rewritten and may still "
            f"contain its text: {error}"
        )
    return ""


def notes_notice(workspace: Workspace, id_: str) -> str:
    """A sentence about the person's notes that name a deleted conversation or observation; "" where none does."""
    files = [(workspace.memory_md, entry.st_size)] if (entry := status(workspace.memory_md)) else []
    named = [str(file) for file, size in (*files, *_files_below(workspace.memory_dir)) if _names(file, size, id_)]
    named += [f"version {number} of {name}" for name, number in _versions_that_name(workspace, id_)]
    if not named:
        return ""
    return f"Not changed: notes of yours that refer to it and may contain its text: {', '.join(named)}."


def _versions_that_name(workspace: Workspace, id_: str) -> Iterator[tuple[str, int]]:
    """Files and numbers of earlier versions that name it, the newest of each file."""
    store = VersionStore(workspace.versions, SystemClock())
    found: dict[str, int] = {}
    for version in store.versions():
        with suppress(Damaged):  # `check` tells of it
            if id_.encode("utf-8", "surrogatepass") in store.body(version):
                found[version.path] = version.number
    newest = {version.path: version.number for version in store.versions()}
    yield from ((name, number) for name, number in found.items() if number != newest[name])


def _files_below(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every file in the folder and its subfolders, with its size in bytes; links are not followed."""
    for path, found in scan(folder):
        if stat.S_ISDIR(found.st_mode):
            yield from _files_below(path)
        elif stat.S_ISREG(found.st_mode):
            yield path, found.st_size


def _names(file: Path, size: int, id_: str) -> bool:
    return id_ in file.name or (size <= MAX_COPY_BYTES and id_.encode("utf-8", "surrogatepass") in read_bytes(file))
