"""Words in what was made of the store: mirrors, the search's files, caches; and in logs and copies."""

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import structs

from foundation.files import exists, read_bytes, remove, remove_folder, replace, scan, write_atomically
from foundation.files import status as status_of
from memory.cold.shrink import free_room, freed_sentence, left_sentence, shrink, size_on_disk
from memory.cold.sql import fetch
from memory.errors import Damaged
from memory.forget.own_figures import figures_of_file
from memory.forget.scan import files_below, folders_below, holds_name, holds_words, is_copy_of_it
from memory.forget.tables import give_kept_text_another_name
from memory.forget.work import ForgetWork, StepCounts
from memory.forgotten.journal import ForgetJournal
from memory.versions.store import MANIFEST, OBJECTS
from models.chat.mlx.cache_files import purge as purge_prompt_caches

_SQLITE: Final = b"SQLite format 3\0"


def forget_mirrors(work: ForgetWork) -> StepCounts:
    """Writes the mirrors anew that hold the words, and deletes those that nothing belongs to."""
    work.memory.mirrors.renew()
    return StepCounts({"mirrors": _remove_holding(work, work.workspace.conversations)})


def forget_search(work: ForgetWork) -> StepCounts:
    """Brings the index and the vectors up to the store; a file that holds the words still is made again."""
    space = work.workspace
    if space.postings.is_dir() or space.vectors.is_dir():
        work.memory.search.update()
    gone = _remove_holding(work, space.postings) + _remove_holding(work, space.vectors)
    work.memory.passages.refresh()
    return StepCounts({"search files": gone})


def forget_caches(work: ForgetWork) -> StepCounts:
    """Deletes pictures of pages and copies of packs that are gone, what models computed, and files cut short."""
    space, cold = work.workspace, work.memory.cold
    pages = cold.read(lambda db: {row[0] for row in fetch(db, "SELECT id FROM pages")})
    packs = cold.read(lambda db: {row[0] for row in fetch(db, "SELECT name FROM packs")})
    gone = sum(_removed(path) for path in files_below(space.page_cache) if path.stem not in pages)
    gone += sum(_removed(path) for path in files_below(space.pack_cache) if path.name not in packs)
    purge_prompt_caches(space.prompt_caches)
    gone += sum(_removed(path) for path in _temporary(space.root) if holds_words(work.prints, path))
    return StepCounts({"cached files": gone})


def forget_logs(work: ForgetWork) -> StepCounts:
    """Takes the lines of the log that hold the words, and the words out of earlier receipts, which name files."""
    _forget_receipts(work)
    lines_gone = 0
    for path in [path for path, _ in _files_of(work.workspace.log.parent) if path.name.startswith("log.txt")]:
        lines = read_bytes(path).splitlines(keepends=True)
        kept = [line for line in lines if not work.prints.holds(line)]
        if len(kept) != len(lines):
            write_atomically(path, b"".join(kept))
            lines_gone += len(lines) - len(kept)
    return StepCounts({"log lines": lines_gone})


def _forget_receipts(work: ForgetWork) -> None:
    journal = ForgetJournal(work.workspace.forgotten)
    for id_ in journal.ids():
        with suppress(FileNotFoundError, Damaged):
            job = journal.read(id_)
            if id_ == work.job.id or job.receipt is None:
                continue
            found, left, sentences = (
                tuple(map(work.replaced, each)) for each in (job.receipt.found, job.receipt.left, job.receipt.sentences)
            )
            receipt = structs.replace(job.receipt, found=found, left=left, sentences=sentences)
            changed = structs.replace(job, sentences=tuple(map(work.replaced, job.sentences)), receipt=receipt)
            if changed != job:
                journal.write(changed)


def forget_copies(work: ForgetWork) -> StepCounts:
    """Deletes copies of notes and mirrors from before a change, and originals of repaired files."""
    space = work.workspace
    ours = (space.versions / MANIFEST, space.versions / OBJECTS)
    gone = 0
    for path in files_below(space.versions):
        if not {path, *path.parents} & {*ours} and (_holds(work, path) or is_copy_of_it(work, path)):
            gone += _removed(path)
    for path in files_below(space.damaged):
        if _is_database(path) or _holds(work, path) or is_copy_of_it(work, path):
            gone += _removed(path)
    gone += sum(_without_words(work, path) for path in files_below(space.kept_texts))
    gone += sum(_folder_removed(work, folder) for folder in folders_below(space.state))
    if exists(space.last_good_system) and not work.keeps("system.yaml") and _holds(work, space.last_good_system):
        gone += _removed(space.last_good_system)
    return StepCounts({"copies": gone})


def forget_database(work: ForgetWork) -> StepCounts:
    """Empties the write-ahead log; where free pages hold the words still, or are many, the database is written anew."""
    cold = work.memory.cold
    cold.empty_journal()
    database = cold.database
    before = size_on_disk(database)
    if any(_holds_said(work, path) for path in _database_files(database)):
        cold.empty_journal(vacuum=lambda db: fetch(db, "VACUUM"))
    shrink(cold)
    sentences = (freed_sentence(before - size_on_disk(database)), left_sentence(free_room(cold)))
    return StepCounts(sentences=tuple(filter(None, sentences)))


def _without_words(work: ForgetWork, path: Path) -> int:
    """Takes the lines out of a text that an archive kept beside its pages: those that hold the words, and those of what
    goes (memory.forget.belongings). One in which nothing is left is deleted."""
    body = read_bytes(path)
    lines, going = body.splitlines(keepends=True), work.lines_named(path.relative_to(work.workspace.root).as_posix())
    kept = [line for line in lines if not (work.prints.holds(line) or work.hashed(_decoded(line)) in going)]
    if work.hashed(_decoded(body)) in going or (lines and not b"".join(kept).strip()):
        return _removed(path)
    if len(kept) == len(lines) and not _holds(work, path):
        return 0
    write_atomically(path, b"".join(kept))
    if holds_name(work.prints, path.name):
        give_kept_text_another_name(work, path)
    return 1


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _database_files(database: Path) -> Iterator[Path]:
    yield from (database.with_name(database.name + ending) for ending in ("", "-wal"))


def _holds(work: ForgetWork, path: Path) -> bool:
    name = path.relative_to(work.workspace.root).as_posix() if path.is_relative_to(work.workspace.root) else path.name
    return holds_words(work.prints, path) or work.prints.holds(name.encode("utf-8", "surrogateescape"))


def _folder_removed(work: ForgetWork, folder: Path) -> int:
    """Deletes a folder whose name holds the words, such as that of copies of a note: 1. One that is not empty gets
    another name."""
    if not holds_name(work.prints, folder.name):
        return 0
    try:
        remove_folder(folder)
    except OSError:
        replace(folder, folder.with_name(f"forgotten-{work.hashed(folder.name)[:8]}"))
    return 1


def _is_database(path: Path) -> bool:
    with suppress(OSError):
        return read_bytes(path)[:16] == _SQLITE
    return False


def _remove_holding(work: ForgetWork, folder: Path) -> int:
    return sum(_removed(path) for path in files_below(folder) if _holds_said(work, path))


def _holds_said(work: ForgetWork, path: Path) -> bool:
    """Whether the file holds the words, but where the program wrote them for itself."""
    name = path.relative_to(work.workspace.root).as_posix()
    return holds_words(work.prints, path, figures=figures_of_file(work.workspace, name))


def _removed(path: Path) -> int:
    remove(path, missing_ok=True)
    return 1


def _temporary(root: Path) -> Iterator[Path]:
    """Files that a write left when it was cut short."""
    yield from (path for path in files_below(root / ".palimpsest") if path.name.endswith(".tmp"))


def _files_of(folder: Path) -> Iterator[tuple[Path, int]]:
    if status_of(folder) is not None:
        yield from ((path, found.st_size) for path, found in scan(folder) if stat.S_ISREG(found.st_mode))
