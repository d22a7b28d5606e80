"""`palimpsest import`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import current
from agent.importers import FORMATS
from agent.importers.formats import detect
from foundation.errors import Misuse, PalimpsestError
from foundation.privacy import clear
from foundation.program import PROGRAM
from memory.scope import MOST_CHARS, SCOPE, checked_scope

if TYPE_CHECKING:  # loaded when something is imported
    from agent.importers.import_files import FilesReport
    from agent.services.found_conversations import FoundConversations
    from memory.conversations import Conversations


@click.command(cls=CliCommand)
@click.argument("paths", metavar="[PATH|NAME]…", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--from",
    "form",
    type=click.Choice(FORMATS),
    help="The format; the default is detected from the file's content.",
)
@click.option("--source", help="A name for the source. An entry is stored once for each source, conversation and id.")
@click.option(
    "--scope",
    metavar="NAME|id",
    help="Import into this scope, which other scopes do not search or recall; id: the id of each conversation.",
)
@click.option(
    "--knowledge",
    is_flag=True,
    help="Also add an export's projects (documents, instructions) and memories to knowledge.",
)
def command(
    *, paths: tuple[Path, ...], form: str | None, source: str | None, scope: str | None, knowledge: bool
) -> None:
    """Import conversations from files, from folders, or from another program on this machine.

    Without an argument, the programs that have conversations here are listed; NAME imports one of them.

    jsonl: one entry per line, {"id", "conversation", "time", "role", "speaker", "text"}. Only text is required; other
    fields are kept. chatgpt, claude: the data export, as a zip file or its conversations.json. claude-code, codex,
    gemini: session files, from ~/.claude/projects, ~/.codex/sessions or ~/.gemini/tmp, with the results of tools.
    opencode: its database, its folder storage, or the output of `opencode export`. chunks: the folder that contains
    chunks/NAME_chunk_001.json, with or without summaries/ and NAME_index.json, or one of these files. Messages have
    content, role and timestamp. Summaries are read with context.read_compressed and are never recalled.

    A bad line is reported with its number and the other lines are imported. If a chunk file is bad, nothing is
    imported. Importing a file again adds only new entries; of several files, unchanged ones are not read again. Other
    files in a folder are counted and not imported.

    Exit status: 0 everything was read, 1 some files or lines could not be read (the others were imported), 130
    interrupted.
    """
    from agent.importers.import_files import import_files
    from agent.importers.imported_files import ImportedFiles
    from agent.services.export_knowledge import add_export_knowledge

    invocation = current()
    if scope is not None:
        checked_scope(scope)
    files = _files_of(paths, form)
    if not files:
        return
    is_single = files == list(paths)[:1]
    limits = invocation.loaded_config.config.imports
    if is_single:
        form = form or detect(files[0], limits)
    with (
        invocation.memory(for_writing=True) as memory,
        output.Progress("entries" if is_single else f"of {len(files):,} files") as progress,
    ):
        marks = ImportedFiles(invocation.workspace.imported_files, memory.conversations)
        result = import_files(
            memory,
            files,
            limits,
            marks=None if is_single else marks,
            form=form or "",
            source=source or "",
            named=paths,
            on_file=(lambda _: None) if is_single else progress,
            on_entries=progress if is_single else None,
        )
        report = result.report
        if knowledge:
            result.knowledge = add_export_knowledge(memory, invocation.workspace, files, limits)
        if scope is not None:
            _set_scope(memory.conversations, report.conversations, scope)
        seqs = dict.fromkeys((*report.conversations, *memory.mirrors.missing_of_imports()))
        _update_mirrors(memory.mirrors.update, tuple(seqs))
    for path, error in result.unread:
        if is_single:
            raise error
        output.narrate(f"{path}: {error}")
    for bad, number in report.reasons:
        others = f" (and {number - 1:,} more like it)" if number > 1 else ""
        output.narrate(f"{f'{files[0]}, ' if is_single else ''}{bad.location}: {bad.sentence}{others}.")
    if hidden := report.bad_count - sum(number for _, number in report.reasons):
        output.narrate(f"… and {hidden:,} more.")
    if report.redacted:
        output.narrate(f"Removed private parts and secrets: {report.redacted:,}.")
    _print(result, len(files), as_json=invocation.json)
    invocation.status = 1 if report.refused or result.unread else 0


def _files_of(paths: tuple[Path, ...], form: str | None) -> list[Path]:
    """The files to import. Without a path it prints what was found on this machine; a name of that list is its files.

    Raises Misuse.
    """
    from agent.importers.import_files import files_of
    from agent.services.found_conversations import find_conversations_on_disk, find_named

    environment = current().loaded_config.config.environment
    names = {str(path) for path in paths if not path.exists()}
    found = find_conversations_on_disk(Path.home(), environment) if names or not paths else []
    if not paths:
        _list(found)
    files: dict[Path, None] = {}
    for path in paths:
        expanded = (path,) if form == "chunks" else tuple(files_of(path))
        source = find_named(found, str(path)) if str(path) in names else None
        of_path = source.files if source else expanded
        if not of_path:
            raise Misuse("Nothing to import", f"{path} contains no file that can be imported.")
        for file in of_path:
            _require_file(file)
            files[file] = None
    return list(files)


def _list(found: list[FoundConversations]) -> None:
    if current().json:
        rows = [
            {"name": each.id, "program": each.label, "files": len(each.files), "bytes": each.size} for each in found
        ]
        output.json_object({"found": rows})
    elif found:
        output.table([(source.id, source.label, source.amount) for source in found], ("name", "program", "size"))
        output.narrate(f"{PROGRAM} import NAME imports one of them.")
    else:
        output.line("No conversations of other programs were found on this machine.")


def _set_scope(conversations: Conversations, seqs: tuple[int, ...], scope: str) -> None:
    for seq in seqs:
        name = conversations.at(seq).id[:MOST_CHARS] if scope == "id" else checked_scope(scope)
        conversations.set_label(seq, SCOPE, clear(f"{SCOPE}{name}") if name else None)


def _require_file(path: Path) -> None:
    """Refuses pipes and devices: a file is read twice, the first time for its format. Raises Misuse."""
    if path.is_file() or path.is_dir():
        return
    if not path.exists():
        raise Misuse("No such file", f"There is no file {path}.")
    kind = "a pipe" if path.is_fifo() else "a device"
    raise Misuse(
        "Not a file", f"{path} is {kind}, which can be read only once.", "Save it to a file and import the file."
    )


def _print(result: FilesReport, files: int, *, as_json: bool) -> None:
    report = result.report
    if as_json:
        output.json_object(
            {
                "source": report.source,
                "conversations": len(report.conversations),
                "entries": report.entries,
                "already": report.already,
                "bad_count": report.bad_count,
                "bad": [
                    {"place": bad.location, "message": bad.sentence, "kept": bad.partly_imported} for bad in report.bad
                ],
                "taken_out": report.redacted,
                "observations": report.observations,
                "forgotten": report.forgotten,
                "skipped": [
                    {"reason": each.reason, "kind": each.kind, "count": each.count, "first": each.location}
                    for each in report.skipped
                ],
                "files": files,
                "unchanged": result.unchanged,
                "knowledge": result.knowledge or 0,
                "unread": [{"file": str(path), "message": str(error)} for path, error in result.unread],
            }
        )
        return
    for sentence in result.sentences("`--knowledge`"):
        output.line(sentence)


def _update_mirrors(update: Callable[[int], object], conversations: tuple[int, ...]) -> None:
    """Updates the readable mirrors. One that cannot be written is reported; the import is kept."""
    for seq in conversations:
        try:
            update(seq)
        except PalimpsestError as error:
            output.narrate(f"{error.title}: {error.message}")
