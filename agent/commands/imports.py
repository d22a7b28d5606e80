"""`/import`: brings in conversations of other programs that are on this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import Choice, Choices, Outcome, Proposal, TextResult
from agent.version import version
from foundation.errors import Misuse, PalimpsestError
from foundation.privacy import clear
from foundation.program import PROGRAM
from foundation.sizes import format_size
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.services.found_conversations import FoundConversations
    from agent.session import Session
    from memory.pages.types import OnPage

NONE_FOUND: Final = (
    "Found no conversations of other programs: no Claude Code sessions "
    "(`~/.claude/projects`), no Codex sessions (`~/.codex/sessions`), and no ChatGPT or Claude export in "
    f"Downloads. To import a file from elsewhere: `{PROGRAM} import FILE`."
)


async def _import(session: Session, chosen: str) -> Outcome:
    from agent.services.found_conversations import find_conversations_on_disk

    found = await asyncio.to_thread(find_conversations_on_disk, Path.home(), session.config.environment)
    if not chosen:
        items = tuple(Choice(source.id, visible_line(source.label), _amount(source)) for source in found)
        notes = ("Only names and sizes have been read so far. Files are read after you confirm.",)
        return Choices("Import conversations", items, "/import", notes) if items else TextResult(NONE_FOUND)
    source = next((source for source in found if source.id == chosen), None)
    if source is None:
        raise Misuse(
            "Not found", f"There is nothing to import named “{visible_line(chosen)}”.", "/import lists what was found."
        )

    async def run(on_page: OnPage) -> Outcome:
        return TextResult(await asyncio.to_thread(_import_all, session, source, on_page))

    rows = (
        ("what", f"{visible_line(source.label)}, {_amount(source)}"),
        ("to", f"this workspace, {session.workspace.root}; keys and private text are removed first"),
        ("sent", "nothing: the files are read on this machine and not changed"),
    )
    title, activity = "Import conversations", "importing"
    return Proposal(title=title, rows=rows, activity=activity, pages=len(source.files), unit="file", run=run)


def _import_all(session: Session, source: FoundConversations, on_page: OnPage) -> str:
    """Imports the files; gives a sentence. A file that cannot be read is counted, and the others are imported."""
    from agent.importers.formats import detect, read_file
    from agent.importers.imported_files import ImportedFiles
    from agent.importers.skipped import SkippedKinds, describe_skipped
    from agent.importers.store import store_all

    conversations, limits = session.memory.conversations, session.config.imports
    changed: dict[int, None] = {}
    entries = already = bad = forgotten = unchanged = 0
    imported = ImportedFiles(session.workspace.imported_files, conversations)
    unread: list[str] = []
    skipped = SkippedKinds()
    for number, path in enumerate(source.files):
        on_page(number)
        try:
            form = source.form or detect(path, limits)
            name = clear(path.stem if form == "jsonl" else form)
            mark = imported.mark(path, version(), form, name)
            if imported.holds(mark):
                unchanged += 1
                continue
            report = store_all(conversations, read_file(path, form, limits), source=name, fixed_source=False)
            for seq in report.conversations:
                session.memory.mirrors.update(seq)
            imported.add(mark)
        except (PalimpsestError, OSError) as error:
            if session.workspace.is_read_only:
                raise
            unread.append(f"{visible_line(path.name)}: {visible_line(str(error))}")
            continue
        changed |= dict.fromkeys(report.conversations)
        entries, already, bad = entries + report.entries, already + report.already, bad + report.refused
        forgotten += report.forgotten
        skipped.add(*report.skipped)
    destination = _counted(len(changed), "conversation")
    lines = [f"{_counted(entries, 'entry', 'entries')} in {destination} imported. `/resume` lists them."]
    if not entries:
        lines = ["Nothing new."]
    if already:
        lines.append(f"Already imported: {already:,}.")
    if unchanged:
        lines.append(f"Not changed since they were imported: {_counted(unchanged, 'file')}.")
    if bad:
        lines.append(f"Lines that could not be read: {bad:,}.")
    if forgotten:
        lines.append(f"Skipped because they were forgotten here: {_counted(forgotten, 'entry', 'entries')}.")
    if sentence := describe_skipped(skipped.counts()):
        lines.append(sentence)
    if unread:
        lines.append(f"Files that could not be read: {len(unread):,}; the first is {clear(unread[0])}")
    return " ".join(lines)


def _amount(source: FoundConversations) -> str:
    count = len(source.files)
    return f"{_counted(count, 'file')}, {format_size(source.size)}"


def _counted(count: int, singular: str, plural: str = "") -> str:
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"


COMMANDS = (
    Command(
        name="import",
        summary="Import conversations of ChatGPT, Claude, Claude Code and Codex from this machine.",
        usage="[NAME]",
        run=_import,
    ),
)
