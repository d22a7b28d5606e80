"""What a forgetting would take and what stays, as sentences for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from foundation.figures import counted
from foundation.program import own_command
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.forget.named_files import NamedFile
    from memory.forget.plan import ForgetPlan, NamedConversation, PlannedEntry
    from memory.records import Conversation

_MOST_NAMED: Final = 5
_SINGULAR: Final = {
    "entries": "entry",
    "derived": "other entry in part",
    "names": "title or label",
    "copies": "older copy",
    "synced": "row saved for sync",
}
_PLURAL: Final = {
    "derived": "other entries in part",
    "names": "titles and labels",
    "copies": "older copies",
    "synced": "rows saved for sync",
}


def plan_lines(what: ForgetPlan) -> list[str]:
    """The plan for a person: what goes, with first lines; what changes; what stays."""
    lines = [f"Would be deleted of {what.title}:"]
    if what.file_name:
        lines.append(f"  {file_name_sentence(what)}")
    lines += [f"  {_entry_line(entry)}" for entry in what.entries]
    if (more := what.entry_count - len(what.entries)) > 0:
        lines.append(f"  … and {more:,} more entries")
    for found in what.conversations:
        lines.append(f"  {found.id}  {found.kind} “{found.title}”, {counted_as('entries', found.entries)}")
    lines += [f"  {number}. {line.file}:{line.number}  {line.text}" for number, line in enumerate(what.lines, 1)]
    lines += [f"  renamed: {name} to {new}, because the name contains the text" for name, new in what.renamed]
    lines += [f"  changes: {_entry_line(entry)}" for entry in what.derived]
    lines += [f"  changes: {change}" for change in changes(what)]
    if stays := also_said_sentence(what.also_in):
        lines.append(f"{stays} Entries: {', '.join(what.also_said)}.")
    lines += what.job.sentences
    if what.copies:
        lines.append(f"  Only copies contain it: {', '.join(what.copies)}. It is deleted from them.")
    if what.past:
        lines.append(f"  {counted(what.past, 'line')} in old versions of it; the file no longer exists.")
    if what.kept:
        lines.append(f"Kept: {kept_sentence(what)}")
    if what.unnamed:
        lines.append(f"Kept: {unnamed_sentence(what.unnamed)}")
    if what.same_id:
        lines.append(f"Kept: {same_id_sentence(what)}")
    return [*lines, *(f"Not searched: {sentence}" for sentence in what.unread)]


def kept_sentence(what: ForgetPlan) -> str:
    """A sentence about the person's own files that hold the words."""
    names = ", ".join(map(visible_line, what.kept[:20]))
    if len(what.kept) == 1:
        return f"{names} contains it and is your own file: edit it yourself."
    return f"{names} contain it and are your own files: edit them yourself."


def file_name_sentence(what: ForgetPlan) -> str:
    """A sentence about a name that is read as a file's, and how its words alone are forgotten."""
    command = own_command("forget", "--words", what.file_name)
    return f"“{visible_line(what.file_name)}” is interpreted as a file name; to delete only this text: `{command}`."


def unnamed_sentence(files: Sequence[NamedFile]) -> str:
    """A sentence about files whose texts stay, though words go from their names, and how the texts are forgotten."""
    names = ", ".join(visible_line(file.name) for file in files[:_MOST_NAMED])
    more = f" and {len(files) - _MOST_NAMED:,} more files" if len(files) > _MOST_NAMED else ""
    commands = ", ".join(f"`{own_command('forget', file.ref)}`" for file in files[:_MOST_NAMED])
    if len(files) == 1:
        return f"the text of {names}. Only its name is changed; {commands} deletes the text."
    which = " of the first" if more else ""
    return f"the texts of {names}{more}. Only their names are changed; {commands} delete the texts{which}."


def same_id_sentence(what: ForgetPlan) -> str:
    """A sentence about the conversation whose id was named as words, and how all of it is forgotten; "" for none."""
    if not what.same_id:
        return ""
    found, command = what.same_id[0], own_command("forget", "--conversation", what.same_id[0].id)
    return (
        f"The conversation with the id {visible_line(found.id)} has "
        f"{counted_as('entries', found.entries)}: `{command}` deletes all of it."
    )


def _entry_line(entry: PlannedEntry) -> str:
    return f"{entry.id}  {entry.time.astimezone():%Y-%m-%d}  {entry.by}: {entry.line}  ({entry.why})"


def also_said_sentence(conversations: Iterable[NamedConversation | Conversation]) -> str:
    """A sentence about conversations that stay and hold the same text by themselves; "" for none."""
    named = [(visible_line(found.title), found.id) for found in conversations]
    places = ", ".join(f"“{title}” ({id_})" if title else id_ for title, id_ in named)
    return f"Kept: the same text, or parts of it, in {places}." if places else ""


def changes(what: ForgetPlan) -> list[str]:
    """What changes besides, as counts: entries that stay and change, titles and labels, pages."""
    also = (("derived", what.derived_count), ("names", what.names), ("pages", what.pages))
    return [counted_as(name, count) for name, count in also if count]


def counted_as(name: str, count: int) -> str:
    """A count of the receipt, for a person: `1 entry`, `12 lines`."""
    return f"{count:,} {_SINGULAR.get(name, name.removesuffix('s')) if count == 1 else _PLURAL.get(name, name)}"
