"""Files that a person may name: those that were added to knowledge here, and texts of files that arrived by sync."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path, PurePath

from msgspec import Struct
from msgspec.structs import replace

from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.program import own_command
from foundation.terminal_text import visible_line
from memory.cold.encoding import to_text
from memory.cold.sql import fetch
from memory.forget.work import ForgetWork
from memory.forgotten.journal import ForgetJob
from memory.knowledge.importance.patterns import is_end_of, resolve_pattern
from memory.memory import Memory

_ADDED = """SELECT CAST(id AS BLOB), CAST(source AS BLOB), CAST(name AS BLOB), conversation, 0
    FROM knowledge ORDER BY seq"""
_OTHERS = """SELECT CAST(id AS BLOB), x'', title, seq, kind = 'archive' FROM conversations
    WHERE kind IN ('archive', 'knowledge') AND seq NOT IN (SELECT conversation FROM knowledge) ORDER BY seq"""
_MOST_NAMED = 6


class NamedFile(Struct, frozen=True, kw_only=True):
    """A file with all its versions, the newest last. `name` is the listed name, `ref` names it alone in a command."""

    name: str
    ref: str
    source: str = ""  # absolute path; "" for a note, and for a text without a file on this device
    ids: tuple[str, ...] = ()  # of each version; none for a note
    conversations: tuple[int, ...] = ()  # seqs, of each version; none for a note
    is_archive: bool = False


class SeveralFiles(Misuse):
    """A name that several files have."""

    def __init__(self, name: str, files: Sequence[NamedFile]) -> None:
        named = ", ".join(
            visible_line(file.name if file.ref == file.name else f"{file.name} ({file.ref})")
            for file in files[:_MOST_NAMED]
        )
        more = f" and {len(files) - _MOST_NAMED:,} more" if len(files) > _MOST_NAMED else ""
        super().__init__(
            "Which file?",
            f"“{visible_line(name)}” matches {len(files):,} files: {named}{more}.",
            f"Give one of them or its id; `{own_command('forget', '--words', name)}` deletes only this text.",
        )


def only_file(name: str, files: Sequence[NamedFile]) -> NamedFile | None:
    """The one file of that name; the same name from another device counts as the same file. Raises SeveralFiles."""
    added = [file for file in files if file.source]
    if len(added) == 1:
        same = [file for file in files if not file.is_archive and file.name == added[0].name]
        files = [
            replace(
                added[0],
                ids=tuple(id_ for file in same for id_ in file.ids),
                conversations=tuple(seq for file in same for seq in file.conversations),
            ),
            *(file for file in files if file not in same),
        ]
    if len(files) > 1:
        raise SeveralFiles(name, files)
    return files[0] if files else None


def exact_files(memory: Memory, name: str, path: str) -> list[NamedFile]:
    """The files of knowledge with that id, listed name or absolute path."""
    files = [file for file in all_files(memory) if not file.is_archive]
    if by_id := [file for file in files if name in file.ids]:
        return by_id
    return [file for file in files if name == file.name or file.source in {name, path} - {""}]


def files_ending_in(memory: Memory, name: str) -> list[NamedFile]:
    """The files whose name, or path from a folder on, ends in this one, also notes, but for those of comments alone.
    None for a word that is no name of a file: one without a suffix and a folder."""
    if not _is_file_name(name):
        return []
    notes = [NamedFile(name=file.path, ref=file.path) for file in memory.hot.files() if file.notes]
    return [
        file
        for file in (*notes, *all_files(memory))
        if any(is_end_of(name, path) for path in (file.name, file.source) if path)
    ]


def all_files(memory: Memory) -> list[NamedFile]:
    """Every file that was added here, every text that arrived as one, and every archived text."""
    files: dict[tuple[str, str, bool], NamedFile] = {}
    rows = memory.cold.read(lambda db: [*fetch(db, _ADDED), *fetch(db, _OTHERS)])
    for raw_id, raw_source, raw_name, conversation, is_archive in rows:
        id_, source, name = map(to_text, (raw_id, raw_source, raw_name))
        key = (source, "" if source else name, bool(is_archive))
        older = files.get(key, NamedFile(name=name, ref=id_))
        files[key] = NamedFile(
            name=name,
            ref=id_,
            source=source,
            ids=(*older.ids, id_),
            conversations=(*older.conversations, conversation),
            is_archive=bool(is_archive),
        )
    return list(files.values())


def typed_path(name: str, here: Path | None) -> str:
    """The absolute path that the name means in this folder, where it begins as one does; else ""."""
    with suppress(OSError, RuntimeError, ValueError):  # no such user, a null byte
        if here is not None or Path(name).is_absolute():
            path = resolve_pattern(name, here or Path())
            return path if Path(path).is_absolute() else ""
    return ""


def note_at(workspace: Workspace, path: str) -> str:
    """The relative name of a file of the workspace; "" for a path outside it."""
    with suppress(ValueError):
        return Path(path).relative_to(workspace.root.resolve()).as_posix() if path else ""
    return ""


def files_losing_names(work: ForgetWork, going: Iterable[int]) -> list[NamedFile]:
    """The files whose names lose words while their texts stay, with the versions that stay."""
    gone, found = set(going), list[NamedFile]()
    for file in all_files(work.memory):
        staying = [(id_, seq) for id_, seq in zip(file.ids, file.conversations, strict=True) if seq not in gone]
        if staying and work.prints.holds(file.name.encode("utf-8", "surrogateescape")):
            ids, seqs = zip(*staying, strict=True)
            found.append(replace(file, ref=ids[-1], ids=ids, conversations=seqs))
    return found


def files_that_lost_names(memory: Memory, job: ForgetJob) -> list[NamedFile]:
    """The same after the job, under the names that they have now."""
    memory.hot.look()
    wanted, notes = set(job.unnamed), set(job.unnamed_notes)
    found = [file for file in all_files(memory) if wanted.intersection(file.conversations)]
    if notes:
        work = ForgetWork(memory, job)
        found += [
            NamedFile(name=file.path, ref=file.path)
            for file in memory.hot.files()
            if file.text.strip() and work.hashed(file.path) in notes
        ]
    return found


def _is_file_name(name: str) -> bool:
    path = PurePath(name)
    return bool(path.name) and (bool(path.suffix) or len(path.parts) > 1)
