"""The Markdown of memory for a screen: sizes, tokens, what of it is in the request, and what changed in it."""

from __future__ import annotations

import asyncio
import difflib
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.file_versions import AUTHORS, version_difference, version_text, version_time
from foundation.privacy import clear
from memory.versions.cause import Author, caused_by

if TYPE_CHECKING:
    from agent.session import Session
    from memory.hot.note import HotFile
    from memory.memory import Memory
    from memory.versions.manifest import Version


class MemoryFile(Struct, frozen=True, kw_only=True):
    """A file of memory. `share` is how much of it is in the next request: all, part or none."""

    path: str
    text: str
    size: int  # bytes
    tokens: int
    notes: int
    share: str
    problem: str = ""


class MemoryChange(Struct, frozen=True):
    """A change of a file as a diff, and a sentence about who made it, as far as that is known."""

    sentence: str
    diff: str


class SavedNotes(Struct, frozen=True):
    """What a file holds after an edit. `is_merged`: others changed it meanwhile. `left_out`: secrets or private parts
    of the edit were."""

    text: str
    is_merged: bool = False
    left_out: bool = False


async def memory_files(session: Session) -> list[MemoryFile]:
    """MEMORY.md and memory/*.md as they are on disk now. Raises PalimpsestError."""
    await asyncio.to_thread(session.memory.hot.look)
    request = await session.preview_request()
    sent = "\n".join(part.text for part in request.parts if part.layer == "project")
    return await asyncio.to_thread(_files, session, sent)


def has_changed(memory: Memory, known: list[MemoryFile]) -> bool:
    """Whether a file is other than it was. Blocks."""
    memory.hot.look()
    return [(file.path, file.text) for file in memory.hot.files()] != [(file.path, file.text) for file in known]


def save_file(memory: Memory, path: str, base: str, text: str) -> SavedNotes:
    """Writes an edit of `base`. Blocks; raises NoteChanged, UnwritableNotes."""
    cleared = clear(text)
    with caused_by(Author.USER, "the editor of /memory"):
        now = memory.hot.replace_text(path, base, cleared)
    return SavedNotes(now, is_merged=now != cleared, left_out=cleared != text)


def last_change(memory: Memory, file: MemoryFile, before: str | None) -> MemoryChange | None:
    """What changed since `before`, where that is another text; else what the newest version changed. Blocks.

    None where no version is known. Raises Damaged.
    """
    store = memory.versions.store
    newest = store.newest(file.path)
    if before is not None and before != file.text:
        return MemoryChange(f"Changed since this screen was opened{_by(newest)}.", _diff(before, file.text, file.path))
    if newest is None:
        return None
    held = version_text(store, newest)
    if held != file.text:  # a workspace that is only read keeps no versions
        return MemoryChange(
            f"Since version {newest.number}. The author is not recorded.", _diff(held, file.text, file.path)
        )
    sentence = f"Version {newest.number} of {version_time(newest)}{_by(newest)}."
    return MemoryChange(sentence, version_difference(store, newest))


def _by(version: Version | None) -> str:
    """`, by a model: tool remember in c_1`."""
    if version is None:
        return ""
    return f", by {AUTHORS[version.author]}{f': {version.reason}' if version.reason else ''}"


def _files(session: Session, sent: str) -> list[MemoryFile]:
    return [_file(file, sent, session.model.counter.count(file.text)) for file in session.memory.hot.files()]


def _file(file: HotFile, sent: str, tokens: int) -> MemoryFile:
    return MemoryFile(
        path=file.path,
        text=file.text,
        size=len(file.text.encode("utf-8", "replace")),
        tokens=tokens,
        notes=file.notes,
        share=_share(file.text, sent),
        problem=file.problem.text if file.problem else "",
    )


def _share(text: str, sent: str) -> str:
    lines = [stripped for line in text.splitlines() if (stripped := line.strip().lstrip("#-* "))]
    found = sum(line in sent for line in lines)
    return "all" if lines and found == len(lines) else "part" if found else "none"


def _diff(before: str, now: str, path: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), now.splitlines(), path, path, lineterm="")
    return "\n".join(lines)
