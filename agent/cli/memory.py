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
from memory.versions.cause import Author, caused_by
from memory.versions.lost import lost_sentence

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
@click.argument("file", required=False)
def log(file: str | None) -> None:
    """List the versions of FILE, or of all files, newest first: time, author, reason, and lines added and removed.

    Versions are saved of MEMORY.md, memory/*.md, system.yaml, AGENTS.md, SOUL.md and skills.
    """
    invocation = current()
    with invocation.memory() as memory:
        from agent.services.file_versions import look_at_files, version_object, version_rows

        no_text = [one for one in look_at_files(memory) if file in {None, one.path}]
        for one in () if invocation.json else no_text:
            output.narrate(one.sentence)
        rows = version_rows(memory, file)
        lost = lost_sentence(memory.versions.store.lost_since())
    if invocation.json:
        output.json_object(
            {
                "versions": [{**version_object(row.version), "lost": row.is_lost} for row in rows],
                "no_text": [one.path for one in no_text],
            }
        )
        return
    cells = [
        (
            str(row.version.number),
            row.when,
            row.version.author.value,
            row.version.path,
            row.change,
            row.version.reason,
        )
        for row in rows
    ]
    output.table(cells, ("VERSION", "TIME", "BY", "FILE", "LINES", "WHY"))
    if lost:
        output.narrate(lost)


@command.command()
@click.argument("version", type=int)
@click.argument("other", type=int, required=False)
def diff(version: int, other: int | None) -> None:
    """Show what VERSION changed, or the difference to OTHER, a version of the same file."""
    invocation = current()
    with invocation.memory() as memory:
        from agent.services.file_versions import other_of, version_difference, version_object

        store = memory.versions.store
        chosen = store.version(version)
        against = other_of(store, chosen, other) if other is not None else None
        text = version_difference(store, chosen, against)
    if invocation.json:
        output.json_object({"version": version_object(chosen), "difference": text})
        return
    output.line(text or "They are the same.")


@command.command()
@click.argument("version", type=int)
def restore(version: int) -> None:
    """Restore a file to VERSION. Its current text is saved as a version.

    A file that is not UTF-8 has no versions: it is copied first, and the copy is named.
    """
    invocation = current()
    with invocation.memory() as memory:
        from agent.services.version_restore import restore_version

        done = restore_version(memory, chosen := memory.versions.store.version(version))
    if invocation.json:
        kept = str(done.kept) if done.kept else None
        output.json_object({"path": chosen.path, "version": done.now, "changed": done.is_changed, "kept": kept})
        return
    output.line(done.sentence)


@command.command()
@click.argument("version", type=int, required=False)
def undo(version: int | None) -> None:
    """Undo the last change that a model made to one of these files, or the change that made VERSION.

    Later changes by others are kept. Exit 1 if nothing was undone.
    """
    invocation = current()
    with invocation.memory() as memory:
        from agent.services.version_restore import undo_change

        done = undo_change(memory, version)
    invocation.status = 0 if done.is_changed else 1
    if invocation.json:
        undone = done.version
        output.json_object({"path": undone.path if undone else None, "version": undone.number if undone else None})
        return
    if done.is_changed:
        output.line(done.sentence)
    else:
        output.narrate(done.sentence)


@command.command()
@click.argument("note_id", metavar="ID")
@raw_option
def show(note_id: str, raw: bool) -> None:
    """Show a note, or with a version number the file at that version."""
    invocation = current()
    if note_id.isdecimal():
        _show_version(int(note_id), raw)
        return
    with invocation.memory() as memory:
        memory.hot.refresh()
        note = memory.hot.note(note_id)
    if invocation.json:
        output.json_object(_note_object(note))
        return
    output.narrate(f"{_location(note)}" + (f", {iso(note.time)}" if note.time else ""))
    output.data(note.text if raw else note.text + "\n", raw=raw)


def _show_version(number: int, raw: bool) -> None:
    from agent.services.file_versions import version_object

    invocation = current()
    with invocation.memory() as memory:
        version = memory.versions.store.version(number)
        text = memory.versions.store.body(version).decode("utf-8", "replace")
    if invocation.json:
        output.json_object({**version_object(version), "text": text})
        return
    output.narrate(f"{version.path}, version {version.number}, {version.author.value}: {version.reason}")
    output.data(text, raw=raw)


@command.command(cls=TextCommand)
@click.argument("note_id", metavar="[ID]", required=False)
@click.argument("text", required=False)
def edit(note_id: str | None, text: str | None) -> None:
    """Replace note ID with TEXT, standard input, or what you write in $EDITOR.

    Without ID, $EDITOR opens MEMORY.md. The previous file is saved as a version.
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
            raise Misuse("Empty text", "The new text is empty.", "Delete the note in an editor if that is meant.")
        with caused_by(Author.USER, "memory edit"):
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
