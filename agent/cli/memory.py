"""`palimpsest memory`: the notes in MEMORY.md and memory/*.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliGroup, TextCommand, raw_option
from agent.cli.invocation import current, piped_input
from foundation.clock import iso
from foundation.errors import Misuse
from foundation.privacy import clear
from memory.access import refuse_read_only

if TYPE_CHECKING:  # the notes are loaded when they are read
    from memory.hot import Note


@click.group(cls=CliGroup)
def command() -> None:
    """List, show and edit the notes in MEMORY.md and memory/*.md.

    They are plain Markdown and yours: any editor will do as well.
    """


@command.command("list")
def list_() -> None:
    """List the notes, oldest first."""
    invocation = current()
    with invocation.memory() as memory:
        memory.hot.refresh()
        notes, problems = memory.hot.notes(), memory.hot.problems
    if invocation.json:
        output.json_object({"notes": [_note_object(note) for note in notes]})
        return
    for problem in problems:
        output.narrate(problem.text)
    rows = [
        (note.id, iso(note.time)[:10] if note.time else "", _location(note), note.heading or note.text)
        for note in notes
    ]
    output.table(rows, ("ID", "DATE", "PLACE", "NOTE"))


@command.command()
@click.argument("note_id", metavar="ID")
@raw_option
def show(note_id: str, raw: bool) -> None:
    """Show a note, whole."""
    invocation = current()
    with invocation.memory() as memory:
        memory.hot.refresh()
        note = memory.hot.note(note_id)
    if invocation.json:
        output.json_object(_note_object(note))
        return
    output.narrate(f"{_location(note)}" + (f", {iso(note.time)}" if note.time else ""))
    output.data(note.text if raw else note.text + "\n", raw=raw)


@command.command(cls=TextCommand)
@click.argument("note_id", metavar="[ID]", required=False)
@click.argument("text", required=False)
def edit(note_id: str | None, text: str | None) -> None:
    """Put TEXT (or standard input, or what you write in $EDITOR) in the place of note ID.

    Without ID, $EDITOR opens MEMORY.md itself. What the file was is kept as a version.
    """
    invocation = current()
    if note_id is None:
        workspace = invocation.prepare(writable=True)
        click.edit(filename=str(workspace.memory_md))
        return
    with invocation.memory() as memory:
        refuse_read_only(memory.workspace)
        memory.hot.refresh()
        note = memory.hot.note(note_id)
        content = text if text is not None else piped_input()
        if content is None:
            content = click.edit(note.text, extension=".md")
        if content is None:
            output.narrate("Nothing was changed.")
            return
        if not content.strip():
            raise Misuse("Nothing left", "The new text is empty.", "Delete the note in an editor if that is meant.")
        note = memory.hot.rewrite(note_id, clear(content))
    if invocation.json:
        output.json_object(_note_object(note))
        return
    output.line(f"{_location(note)}  {note.id}")


def _location(note: Note) -> str:
    return f"{note.path}#L{note.line_first}"


def _note_object(note: Note) -> dict[str, Any]:
    return {
        "id": note.id,
        "path": note.path,
        "lines": [note.line_first, note.line_last],
        "time": note.time,
        "heading": note.heading,
        "text": note.text,
        "conversation": note.conversation,
    }
