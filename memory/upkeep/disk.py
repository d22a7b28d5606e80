"""The room that a workspace's memory takes on disk, by kind, and whether that is near its budget."""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from foundation.files import scan, status
from foundation.paths import Workspace
from foundation.sizes import MEGABYTE, format_size, free_bytes
from memory.cold.shrink import free_room, freed_sentence, left_sentence, shrink, shrink_alone
from memory.memory import Memory
from memory.settings import DiskSettings

NEAR: Final = 0.9
"""Share of the budget from which on there is a warning."""

MOST_FILES: Final = 200_000
"""Files after which no further folder is looked at: some two seconds. The sizes are then the least that is taken."""

ADVICE: Final = "`/clean` archives inactive conversations, `/stats` shows all sizes."

_LARGEST_PARTS: Final = 3  # that a warning names


class DiskPart(Struct, frozen=True):
    """A part of the workspace on disk, in bytes. `made_again`: it may be deleted, and is made again when needed."""

    name: str
    size: int
    sentence: str
    made_again: bool = False


class DiskUse(Struct, frozen=True, kw_only=True):
    """What memory takes, largest part first, and what is free on its disk (None where that is unknown), in bytes.
    `whole` is False where there are too many files to look at all."""

    parts: tuple[DiskPart, ...]
    free: int | None
    whole: bool = True

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)


def can_shrink(memory: Memory) -> bool:
    """Whether so much of the database is free pages that the disk should have them back. Raises StoreError."""
    return free_room(memory.cold).is_worth_it


def shrink_database(memory: Memory, should_stop: Callable[[], bool] = lambda: False) -> str:
    """Gives free pages of the database back to the disk where that is worth it; a sentence about it, else ""."""
    return freed_sentence(shrink(memory.cold, should_stop))


def shrink_database_alone(workspace: Workspace) -> tuple[int, int]:
    """Gives all free pages back, however long it takes; the database's bytes on disk before and after. Blocks.

    Raises StoreBusy where the workspace is open elsewhere, StoreError, StoreFull.
    """
    return shrink_alone(workspace.database)


def unreturned_room(memory: Memory) -> str:
    """What of deleted rows the database keeps, and the command that gives it back, as a sentence; "" for little."""
    return left_sentence(free_room(memory.cold))


def measure(workspace: Workspace, free_of: Callable[[Path], int | None] | None = None) -> DiskUse:
    """Measures the workspace. Blocks; reads no file. What cannot be listed counts as nothing."""
    files = _Files()
    parts = [
        DiskPart(name, sum(map(files.size, paths)), sentence, made_again)
        for name, sentence, paths, made_again in _parts(workspace)
    ]
    present = sorted((part for part in parts if part.size), key=lambda part: -part.size)
    return DiskUse(parts=tuple(present), free=(free_of or free_bytes)(workspace.root), whole=files.left > 0)


def disk_words(use: DiskUse, budget_mb: int) -> str:
    """What memory takes, its largest parts, and what is free: `5.7 MB of 5.9 MB (database 5.7 MB); 63.9 GB free`."""
    budget = f" of {format_size(budget_mb * MEGABYTE)}" if budget_mb else ""
    parts = ", ".join(f"{part.name} {format_size(part.size)}" for part in use.parts[: _LARGEST_PARTS + 1])
    free = "" if use.free is None else f"; {format_size(use.free)} free"
    return f"{format_size(use.size)}{budget} ({parts}){free}"


def disk_warning(use: DiskUse, settings: DiskSettings, *, advice: str) -> str:
    """What is wrong with the room, what takes it and what to do, in sentences; "" where all is well."""
    problems = [*_over_budget(use, settings), *_low_on_space(use, settings)]
    if not problems:
        return ""
    largest = ", ".join(f"{part.name} {format_size(part.size)}" for part in use.parts[:_LARGEST_PARTS])
    takes = f"Memory's largest parts: {largest}." if largest else ""
    again = sum(part.size for part in use.parts if part.made_again)
    spare = f"{format_size(again)} of it is regenerated if deleted." if again >= MEGABYTE else ""
    return " ".join(filter(None, [*problems, takes, spare, advice]))


def is_low(use: DiskUse, settings: DiskSettings) -> bool:
    """Whether less is free than `disk.free_mb`."""
    return bool(settings.free_mb) and use.free is not None and use.free < settings.free_mb * MEGABYTE


def _over_budget(use: DiskUse, settings: DiskSettings) -> Iterator[str]:
    budget = settings.budget_mb * MEGABYTE
    if not budget or use.size < NEAR * budget:
        return
    least = "" if use.whole else "at least "
    state = "over its budget" if use.size > budget else "near its budget"
    yield (f"Memory is {state}: {least}{format_size(use.size)} of {format_size(budget)} (disk.budget_mb).")


def _low_on_space(use: DiskUse, settings: DiskSettings) -> Iterator[str]:
    if use.free is not None and is_low(use, settings):
        yield f"Only {format_size(use.free)} free on the workspace's disk (disk.free_mb is {settings.free_mb:,})."


def _parts(workspace: Workspace) -> tuple[tuple[str, str, Sequence[Path], bool], ...]:
    database = [workspace.database.with_name(f"{workspace.database.name}{end}") for end in ("", "-wal", "-shm")]
    return (
        ("database", "Entries, terms and the index of pages.", database, False),
        ("packs", "Archived pages, compressed.", [workspace.packs], False),
        ("fetched packs", "Packs from remote storage; downloaded again if deleted.", [workspace.pack_cache], True),
        ("postings", "Keyword index; regenerated if deleted.", [workspace.postings], True),
        ("vectors", "Vector index; regenerated if deleted.", [workspace.vectors], True),
        ("page cache", "Pictures of pages; regenerated if deleted.", [workspace.page_cache], True),
        ("prompt caches", "Caches of local models; regenerated if deleted.", [workspace.prompt_caches], True),
        ("knowledge", "Pictures added to knowledge.", [workspace.knowledge], False),
        ("versions", "Earlier versions of your files.", [workspace.versions], False),
        ("checkpoints", "Earlier states of project files.", [workspace.checkpoints], False),
        ("damaged", "Copies of damaged files, saved by repairs.", [workspace.damaged], False),
        ("pasted images", "Images pasted into prompts, for a month.", [workspace.pasted_images], False),
        ("conversations", "Readable copies of conversations.", [workspace.conversations], False),
        ("notes", "MEMORY.md and memory/*.md.", [workspace.memory_md, workspace.memory_dir], False),
    )


class _Files:
    """Sums sizes; looks at so many files at most."""

    def __init__(self) -> None:
        self.left = MOST_FILES

    def size(self, path: Path) -> int:
        """Bytes of a file or of all files in a folder; links are not followed."""
        with suppress(OSError):  # UnsafePath is one
            found = status(path)
            if found is not None:
                return self._tree(path, found)
        return 0

    def _tree(self, path: Path, found: os.stat_result) -> int:
        if not stat.S_ISDIR(found.st_mode):
            self.left -= 1
            return found.st_size
        if self.left <= 0:
            return 0
        total = 0
        with suppress(OSError):
            for child, about in scan(path):
                total += self._tree(child, about)
        return total
