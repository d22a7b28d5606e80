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
from agent.importers.formats import detect, holds_chunks, read_file
from agent.importers.skipped import describe_skipped
from foundation.errors import Misuse, PalimpsestError
from foundation.files import resolve_path
from foundation.privacy import clear
from memory.scope import MOST_CHARS, SCOPE, checked_scope

if TYPE_CHECKING:  # loaded when something is imported
    from agent.importers.report import ImportReport
    from memory.conversations import Conversations


@click.command(cls=CliCommand)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--from",
    "form",
    type=click.Choice(FORMATS),
    help="The format; without it the file's beginning shows it.",
)
@click.option("--source", help="A name for where it comes from; entries are kept once a source, conversation and id.")
@click.option(
    "--scope",
    metavar="NAME|id",
    help="The scope of what is imported, which search and recall of others leave out; id: each conversation's own id.",
)
def command(file: Path, form: str | None, source: str | None, scope: str | None) -> None:
    """Import conversations from FILE.

    jsonl: a line an entry, {"id", "conversation", "time", "role", "speaker", "text"}; only text is required, the
    rest of a line is kept. chatgpt, claude: their data export, as a zip or its conversations.json. claude-code,
    codex: a session file of theirs, from ~/.claude/projects or ~/.codex/sessions; the results of tools are kept.
    chunks: the folder that holds chunks/NAME_chunk_001.json, with or without summaries/ and NAME_index.json, or one
    of its files; messages have content, role and timestamp. Summaries are read with context.read_compressed, and
    are never recalled.

    A bad line is told with its number, and the rest is imported; of chunks nothing is imported where a file is bad.
    Importing a file again adds only what is new.

    Exit status: 0 all was read, 1 some lines could not be read (the others were imported), 130 interrupted.
    """
    from agent.importers.store import store_all

    invocation = current()
    if scope is not None:
        checked_scope(scope)
    _require_file(file, form)
    limits = invocation.loaded_config.config.imports
    form = form or detect(file, limits)
    source_name = clear(source or (file.stem if form == "jsonl" else form))
    with invocation.memory(for_writing=True) as memory, output.Progress("entries") as progress:
        report = store_all(
            memory.conversations,
            read_file(file, form, limits),
            source=source_name,
            fixed_source=source is not None,
            on_progress=progress,
        )
        if scope is not None:
            _set_scope(memory.conversations, report.conversations, scope)
        seqs = dict.fromkeys((*report.conversations, *memory.mirrors.missing_of_imports()))
        _update_mirrors(memory.mirrors.update, tuple(seqs))
    for bad, number in report.reasons:
        others = f" (and {number - 1:,} more like it)" if number > 1 else ""
        output.narrate(f"{file}, {bad.location}: {bad.sentence}{others}.")
    if hidden := report.bad_count - sum(number for _, number in report.reasons):
        output.narrate(f"… and {hidden:,} more.")
    if report.redacted:
        output.narrate(f"Private spans and secrets that were taken out: {report.redacted:,}.")
    _print(report, as_json=invocation.json)
    invocation.status = 1 if report.refused else 0


def _set_scope(conversations: Conversations, seqs: tuple[int, ...], scope: str) -> None:
    for seq in seqs:
        name = conversations.at(seq).id[:MOST_CHARS] if scope == "id" else checked_scope(scope)
        conversations.set_label(seq, SCOPE, clear(f"{SCOPE}{name}") if name else None)


def _require_file(path: Path, form: str | None) -> None:
    """Refuses folders without chunks, and pipes and devices: a file is read twice, the first time for its format.

    Raises Misuse.
    """
    if path.is_file():
        return
    if path.is_dir() and (form == "chunks" or holds_chunks(resolve_path(path))):
        return
    if not path.exists():
        raise Misuse("No such file", f"There is no file {path}.")
    if path.is_dir():
        raise Misuse("A folder", f"{path} is a folder.", "Name the file in it, or zip the folder of an export.")
    kind = "a pipe" if path.is_fifo() else "a device"
    raise Misuse("Not a file", f"{path} is {kind}, which can be read only once.", "Save it to a file, and import that.")


def _print(report: ImportReport, *, as_json: bool) -> None:
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
            }
        )
        return
    output.line(summary(report))
    if skipped := describe_skipped(report.skipped):
        output.line(skipped)


def summary(report: ImportReport) -> str:
    """The result in a sentence; counts of 0 are omitted."""
    entries, conversations = report.entries, len(report.conversations)
    parts = [f"Nothing new in “{report.source}”"]
    if entries:
        destination = _counted(conversations, "conversation", "conversations")
        parts = [f"{_counted(entries, 'entry', 'entries')} in {destination} imported from “{report.source}”"]
    if report.already:
        parts.append(f"{report.already:,} {'was' if report.already == 1 else 'were'} there already")
    if report.refused:
        parts.append(_counted(report.refused, "line was bad", "lines were bad"))
    if report.kept_count:
        parts.append(_counted(report.kept_count, "line was taken in part", "lines were taken in part"))
    if report.observations:
        parts.append(f"{_counted(report.observations, 'observation', 'observations')} left out")
    if report.forgotten:
        left_out = _counted(report.forgotten, "entry left out, for it was", "entries left out, for they were")
        parts.append(f"{left_out} forgotten here")
    return "; ".join(parts) + "."


def _counted(count: int, singular: str, plural: str) -> str:
    return f"{count:,} {singular if count == 1 else plural}"


def _update_mirrors(update: Callable[[int], object], conversations: tuple[int, ...]) -> None:
    """Updates the readable mirrors. One that cannot be written is reported; the import is kept."""
    for seq in conversations:
        try:
            update(seq)
        except PalimpsestError as error:
            output.narrate(f"{error.title}: {error.message}")
