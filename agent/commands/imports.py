"""`/import`: brings in conversations of other programs that are on this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import Choice, Choices, Outcome, Proposal, TextResult
from foundation.errors import Misuse
from foundation.program import PROGRAM
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.services.found_conversations import FoundConversations
    from agent.session import Session
    from memory.pages.types import OnPage

NONE_FOUND: Final = (
    "Found no conversations of other programs: no sessions of Claude Code (`~/.claude/projects`), Codex "
    "(`~/.codex/sessions`), Gemini CLI (`~/.gemini/tmp`) or opencode (`~/.local/share/opencode`), and no export of "
    f"ChatGPT or Claude in Downloads. `{PROGRAM} import PATH` imports a file or folder from elsewhere."
)

_KNOWLEDGE: Final = " knowledge"
"""Behind the name of an export: its projects and memories are added to knowledge, too."""


async def _import(session: Session, chosen: str) -> Outcome:
    from agent.services.found_conversations import find_conversations_on_disk, find_named

    found = await asyncio.to_thread(find_conversations_on_disk, Path.home(), session.config.environment)
    if not chosen:
        items = tuple(Choice(source.id, visible_line(source.label), source.amount) for source in found)
        notes = ("Only names and sizes have been read so far. Files are read after you confirm.",)
        return Choices("Import conversations", items, "/import", notes) if items else TextResult(NONE_FOUND)
    name = chosen.removesuffix(_KNOWLEDGE)
    source = find_named(found, name)
    if source is None:
        raise Misuse(
            "Not found", f"There is nothing to import named “{visible_line(name)}”.", "/import lists what was found."
        )

    async def run(on_page: OnPage) -> Outcome:
        return TextResult(await asyncio.to_thread(_import_all, session, source, on_page, name != chosen))

    rows = (
        ("what", f"{visible_line(source.label)}, {source.amount}"),
        *((("knowledge", "also its memories, and documents and instructions of its projects"),) * (name != chosen)),
        ("to", f"this workspace, {session.workspace.root}; keys and private text are removed first"),
        ("sent", "nothing: the files are read on this machine and not changed"),
    )
    title, activity = "Import conversations", "importing"
    return Proposal(title=title, rows=rows, activity=activity, pages=len(source.files), unit="file", run=run)


def _import_all(session: Session, source: FoundConversations, on_page: OnPage, with_knowledge: bool) -> str:
    """Imports the files; gives a sentence. A file that cannot be read is counted, and the others are imported."""
    from agent.importers.import_files import import_files
    from agent.importers.imported_files import ImportedFiles
    from agent.services.export_knowledge import add_export_knowledge

    memory = session.memory
    marks = ImportedFiles(session.workspace.imported_files, memory.conversations)
    result = import_files(
        memory, source.files, session.config.imports, marks=marks, form=source.form, named=source.files, on_file=on_page
    )
    if with_knowledge:
        result.knowledge = add_export_knowledge(memory, session.workspace, source.files, session.config.imports)
    for seq in dict.fromkeys((*result.report.conversations, *memory.mirrors.missing_of_imports())):
        memory.mirrors.update(seq)
    sentences = result.sentences(f"`/import {visible_line(source.id)}{_KNOWLEDGE}`")
    return " ".join([*sentences, "`/resume` lists them."] if result.report.entries else sentences)


COMMANDS = (
    Command(
        name="import",
        summary="Import conversations of ChatGPT, Claude and coding agents from this machine.",
        usage="[NAME [knowledge]]",
        run=_import,
    ),
)
