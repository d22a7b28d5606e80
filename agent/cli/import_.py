"""`palimpsest import`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from agent.cli.planned import PlannedChoice
from agent.importers import FORMATS
from foundation.errors import Misuse, PalimpsestError

if TYPE_CHECKING:  # loaded when something is imported
    from agent.importers.store import ImportReport


@click.command(cls=CliCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "form",
    type=PlannedChoice(FORMATS, later=["chunks"]),
    help="The format; without it the file's beginning shows it.",
)
@click.option("--source", help="A name for where it comes from; entries are kept once a source, conversation and id.")
def command(file: Path, form: str | None, source: str | None) -> None:
    """Import conversations from FILE.

    jsonl: a line an entry, {"id", "conversation", "time", "role", "speaker", "text"}; only text is required, the rest
    of a line is kept. chatgpt, claude: their data export, as a zip or its conversations.json.

    A bad line is told with its number, and the rest is imported. Importing a file again adds only what is new.

    Exit status: 0 all was read, 1 some lines could not be read (the others were imported), 130 interrupted.
    """
    from agent.importers.formats import detect, read_file
    from agent.importers.store import store_all
    from foundation.privacy import clear

    invocation = current()
    _refuse_what_is_no_file(file)
    limits = invocation.reading.config.imports
    form = form or detect(file, limits)
    named = clear(source or (file.stem if form == "jsonl" else form))
    with invocation.memory(for_writing=True) as memory, output.Progress("entries") as progress:
        imported = store_all(
            memory.conversations,
            read_file(file, form, limits),
            source=named,
            fixed_source=source is not None,
            on_progress=progress,
        )
        _mirror(memory.mirrors.update, imported.conversations)
    for bad in imported.bad:
        output.say(f"{file}, {bad.place}: {bad.sentence}.")
    if hidden := imported.bad_count - len(imported.bad):
        output.say(f"… and {hidden:,} more.")
    if imported.taken_out:
        output.say(f"{imported.taken_out:,} private spans and secrets were taken out.")
    _print(imported, as_json=invocation.json)
    invocation.status = 1 if imported.refused else 0


def _refuse_what_is_no_file(path: Path) -> None:
    """An import looks at its file's beginning first, so it must be one that can be read twice. Raises Misuse."""
    if path.is_file():
        return
    if not path.exists():
        raise Misuse("No such file", f"There is no file {path}.")
    if path.is_dir():
        raise Misuse("A folder", f"{path} is a folder.", "Name the file in it, or zip the folder of an export.")
    kind = "a pipe" if path.is_fifo() else "a device"
    raise Misuse("Not a file", f"{path} is {kind}, which can be read only once.", "Save it to a file, and import that.")


def _print(imported: ImportReport, *, as_json: bool) -> None:
    if as_json:
        output.json_object(
            {
                "source": imported.source,
                "conversations": len(imported.conversations),
                "entries": imported.entries,
                "already": imported.already,
                "bad_count": imported.bad_count,
                "bad": [{"place": one.place, "message": one.sentence, "kept": one.kept} for one in imported.bad],
                "taken_out": imported.taken_out,
            }
        )
        return
    output.line(summary(imported))


def summary(imported: ImportReport) -> str:
    """What the import did, in a sentence that leaves out what did not happen."""
    entries, where = imported.entries, len(imported.conversations)
    parts = [f"Nothing new in “{imported.source}”"]
    if entries:
        held = _counted(where, "conversation", "conversations")
        parts = [f"{_counted(entries, 'entry', 'entries')} in {held} imported from “{imported.source}”"]
    if imported.already:
        parts.append(f"{imported.already:,} {'was' if imported.already == 1 else 'were'} there already")
    if imported.refused:
        parts.append(_counted(imported.refused, "line was bad", "lines were bad"))
    if imported.kept_count:
        parts.append(_counted(imported.kept_count, "line was taken in part", "lines were taken in part"))
    return "; ".join(parts) + "."


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _mirror(update: Callable[[int], object], conversations: tuple[int, ...]) -> None:
    """The readable mirrors; one that cannot be written is told, and the import stands."""
    for seq in conversations:
        try:
            update(seq)
        except PalimpsestError as error:
            output.say(f"{error.title}: {error.message}")
