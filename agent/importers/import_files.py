"""Imports of many files: what a path names, and one report for all of them."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from agent.importers.chunks import holds_chunks
from agent.importers.formats import detect, read_file
from agent.importers.imported_files import ImportedFiles
from agent.importers.json_array import UnknownFormat
from agent.importers.opencode import is_storage
from agent.importers.report import ImportReport, counted, summary
from agent.importers.settings import ImportSettings
from agent.importers.skipped import Skipped, SkipReason, describe_skipped
from agent.importers.store import OnImported, store_all
from agent.version import version
from foundation.errors import PalimpsestError
from foundation.files import resolve_path
from foundation.privacy import clear
from foundation.terminal_text import visible_line
from memory.errors import StoreError

if TYPE_CHECKING:  # the store is loaded when it is opened
    from memory.memory import Memory

SUFFIXES: Final = (".jsonl", ".json", ".zip", ".db")
"""The files of a folder that are read."""
_UNMARKED: Final = ("opencode", "chunks")
"""Formats of folders, and of a database whose newest rows are in another file."""


class FilesReport(Struct, kw_only=True):
    """One report of all files, and those that could not be read with the reason."""

    report: ImportReport
    unchanged: int = 0  # files
    unread: list[tuple[Path, Exception]] = field(default_factory=list[tuple[Path, Exception]])
    knowledge: int | None = None  # texts that were added; None where the user did not ask for them

    def sentences(self, knowledge_option: str) -> list[str]:
        """The result, what was not imported, and the option that imports the rest of an export."""
        found = [summary(self.report), describe_skipped(self.report.skipped)]
        if self.unchanged:
            found.append(f"Not changed since they were imported: {counted(self.unchanged, 'file', 'files')}.")
        if self.unread:
            path, error = self.unread[0]
            first = visible_line(clear(f"{path.name}: {error}"))
            found.append(f"Files that could not be read: {len(self.unread):,}; the first is {first}")
        if self.knowledge is not None:
            found.append(f"Added to knowledge: {counted(self.knowledge, 'text', 'texts')}.")
        elif any(each.reason is SkipReason.KNOWLEDGE for each in self.report.skipped):
            found.append(
                f"The projects and memories of the export were not read. {knowledge_option} adds them to knowledge."
            )
        return [sentence for sentence in found if sentence]


def files_of(path: Path) -> Iterator[Path]:
    """The files that a path, a pattern or a folder names; what is read as one folder is given as that. So is a folder
    that cannot be read."""
    if not path.exists() and (matches := sorted(Path(path.anchor).glob(str(path.relative_to(path.anchor))))):
        for match in matches:
            yield from files_of(match)
    elif not path.is_dir():
        yield path
    else:
        refused: list[OSError] = []
        for folder, below, names in os.walk(path, onerror=refused.append):
            here = Path(folder)
            below.sort()
            try:
                is_one = holds_chunks(resolve_path(here)) or is_storage(resolve_path(here))
            except (PalimpsestError, OSError):  # the import names it
                is_one = True
            if is_one:
                below.clear()
                yield here
                continue
            files = (here / name for name in sorted(names) if name.endswith(SUFFIXES))
            yield from (file for file in files if file.suffix != ".db" or _is_database(file))
        yield from (Path(error.filename) for error in refused)


def _is_database(file: Path) -> bool:
    try:
        return is_storage(resolve_path(file))
    except (PalimpsestError, OSError):  # the import names it
        return True


def import_files(
    memory: "Memory",
    files: Sequence[Path],
    limits: ImportSettings,
    *,
    marks: ImportedFiles | None = None,
    form: str = "",
    source: str = "",
    named: Sequence[Path] = (),
    on_file: Callable[[int], object] = lambda _: None,
    on_entries: OnImported | None = None,
) -> FilesReport:
    """Imports the files. One that cannot be read is in the report, and the others are imported.

    With `marks` a file that was imported and has not changed is not read. A file of an unknown format is skipped unless
    it is `named`. Raises what concerns the store.
    """
    result = FilesReport(report=ImportReport(source=source))
    for number, path in enumerate(files):
        on_file(number)
        try:
            file_form = form or detect(path, limits)
            name = clear(source or (path.stem if file_form == "jsonl" else file_form))
            mark = marks.mark(path, version(), file_form, name) if marks and file_form not in _UNMARKED else ""
            if marks and marks.holds(mark):
                result.unchanged += 1
                continue
            records = read_file(path, file_form, limits)
            report = store_all(
                memory.conversations, records, source=name, fixed_source=bool(source), on_progress=on_entries
            )
            if marks and mark:
                marks.add(mark)
        except StoreError:
            raise
        except UnknownFormat as error:
            if path in named:
                result.unread.append((path, error))
                continue
            report = ImportReport(source=source, skipped=(Skipped(path.name, f"file {path.name}"),))
        except (PalimpsestError, OSError) as error:
            result.unread.append((path, error))
            continue
        result.report = result.report.merged(report.within(str(path)) if len(files) > 1 else report)
    return result
