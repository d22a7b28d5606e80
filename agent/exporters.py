"""Export of conversations: Markdown to read, JSONL to import elsewhere.

The JSONL has an entry per line, in the format of `import`: importing an export gives the same entries. Common fields
are in the line itself, our own (kind, parent, title, meta) under `palimpsest`; there, damaged text has
`"trust": "approximate"`. The parts that were added to a message when it was sent (recalled passages, attachments) are
left out. The Markdown has a heading per message of the current branch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct

from agent.importers.jsonl import KEYS
from foundation.clock import iso
from foundation.errors import Misuse
from foundation.files import exists, is_file, resolve_path, write_atomically
from foundation.paths import expand_home
from foundation.privacy import as_given
from foundation.terminal_text import fenced
from foundation.trust import Trust
from memory.observations.observation import is_made
from memory.records import Conversation, Entry, EntryKind
from memory.tool_calls import INTERRUPTED, described, tool_calls

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory

_NAMES = {"user": "You", "assistant": "Assistant", "system": "System", "tool": "Tool"}

OnTrouble = Callable[[str], None]
"""Called with a sentence about damage that could not be exported as stored."""


class ExportedEntry(Struct, frozen=True):
    """An entry with its whole text and its parent's id; summaries and observations are skipped: they repeat others."""

    entry: Entry
    text: str
    parent: str
    lost: tuple[str, ...] = ()  # ids of damaged pages, which a mark in the text replaces
    exact: bool = True  # whether the text is exactly as stored


def entries_of(
    memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None
) -> Iterator[ExportedEntry]:
    """All branches, oldest first, a bounded number in memory at a time. Archived text is read back from its pages.

    Damage is reported to `on_trouble`, and the sound part is given.
    """
    written: dict[int, str] = {}  # seq → the id of the nearest exported entry at or above it
    for entry in memory.conversations.all_entries(conversation.seq):
        parent = written.get(entry.parent, "") if entry.parent is not None else ""
        if entry.kind is EntryKind.SUMMARY or is_made(entry):
            written[entry.seq] = parent
            continue
        written[entry.seq] = entry.id
        text = memory.vault.readable_text(entry)
        if on_trouble is not None:
            for trouble in text.troubles:
                on_trouble(trouble)
        yield ExportedEntry(entry, text.text, parent, text.lost, text.exact)


def jsonl_objects(
    memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None
) -> Iterator[dict[str, Any]]:
    """An object per entry, all branches, parents first."""
    leaf = memory.conversations.entry(conversation.leaf).id if conversation.leaf is not None else ""
    for exported in entries_of(memory, conversation, on_trouble):
        yield _jsonl_object(conversation, exported, leaf)


def _jsonl_object(conversation: Conversation, exported: ExportedEntry, leaf: str) -> dict[str, Any]:
    entry = exported.entry
    meta = dict(entry.meta)
    imported_fields: object = meta.pop("imported", {})
    if not entry.complete and not meta.get("stopped"):
        meta["cut_off"] = True  # interrupted, or still being written
    if exported.lost:
        meta["lost"] = list(exported.lost)
    imported_fields = (
        cast("dict[str, Any]", imported_fields) if isinstance(imported_fields, dict) else {}
    )  # 0.3.0 may have imported any type
    if colliding := {key: value for key, value in imported_fields.items() if key in KEYS}:
        meta["imported"] = colliding
    own_fields: dict[str, Any] = {
        "source": conversation.source,
        "title": conversation.title,
        "created": to_millisecond(conversation.created),
        "parent": exported.parent,
    }
    if entry.kind is not EntryKind.MESSAGE:
        own_fields["kind"] = entry.kind.value
    if not exported.exact:
        own_fields["trust"] = Trust.APPROXIMATE.value
    if meta:
        own_fields["meta"] = meta
    if entry.id == leaf:
        own_fields["leaf"] = True
    return {
        "id": entry.id,
        "conversation": conversation.id,
        "time": to_millisecond(entry.time),
        "role": entry.role.value,
        "speaker": entry.speaker,
        "text": exported.text,
        **{key: value for key, value in imported_fields.items() if key not in KEYS},
        "palimpsest": own_fields,
    }


def to_millisecond(moment: datetime) -> str:
    """The time to the millisecond, as stored."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def markdown_pieces(memory: Memory, conversation: Conversation, on_trouble: OnTrouble | None = None) -> Iterator[str]:
    """The conversation in pieces. The text of a message is not escaped."""
    yield f"# {' '.join(conversation.title.split()) or 'Untitled'}\n\n"
    yield f"<!-- {conversation.id} · begun {iso(conversation.created)} -->\n"
    if conversation.leaf is None:
        return
    branch = {entry.seq for entry in memory.conversations.path(conversation.leaf)}
    for exported in entries_of(memory, conversation, on_trouble):
        if exported.entry.seq in branch:
            yield _markdown_message(exported)
            interrupted = memory.conversations.interrupted_calls(exported.entry)
            for call in tool_calls(exported.entry):
                note = f"\n*({INTERRUPTED})*\n" if call in interrupted else ""
                yield f"\n{fenced(described(call).rstrip())}\n{note}"


def _markdown_message(exported: ExportedEntry) -> str:
    entry = exported.entry
    end = "" if entry.complete else "\n*(cut off here)*\n"
    when = f" · {iso(entry.said_at)[:16].replace('T', ' ')}" if entry.said_at else ""
    heading = f"\n## {_speaker(entry)}{when}\n\n"
    if not exported.exact:
        heading += "*(approximate: this entry is damaged)*\n\n"
    if entry.kind is EntryKind.TOOL_RESULT:
        return f"{heading}{fenced(exported.text.rstrip())}\n{end}"
    attached = "".join(f"\n*Attached: {name}*\n" for name in entry.meta.get("attachments", []))
    text = exported.text.rstrip("\n")
    return heading + (f"{text}\n" if text else "") + end + attached


def _speaker(entry: Entry) -> str:
    return " ".join((entry.speaker or _NAMES[entry.role.value]).split())


class FileExists(Misuse):
    """An export would overwrite a file."""


def export_to_file(memory: Memory, conversation: Conversation, name: str, *, overwrite: bool = False) -> Path:
    """Writes the conversation in the format of the suffix (.jsonl, else Markdown).

    The default name is `<conversation id>.md`; a relative name is below the current folder. Raises FileExists where a
    file is in the way, unless it is to `overwrite` it.
    """
    path = expand_home(name) if name else Path(memory.mirrors.file_name(conversation))
    path = Path.cwd() / path
    try:
        _check_free(path, overwrite=overwrite)
        write_atomically(resolve_path(path.parent) / path.name, as_given(_exported(memory, conversation, path.suffix)))
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Misuse("Not written", f"{path} cannot be written: {reason}.", "Choose another name or folder.") from error
    return path


def _check_free(path: Path, *, overwrite: bool) -> None:
    """Raises Misuse where no file can be written, or one is not to be overwritten."""
    target = resolve_path(path.parent) / path.name
    if exists(target) and not (overwrite and is_file(target)):
        raise FileExists("Already exists", f"{path} already exists.", "Choose another name.")
    if not path.parent.is_dir():
        raise Misuse("No such folder", f"There is no folder {path.parent}.", "Create it first.")


def _exported(memory: Memory, conversation: Conversation, suffix: str) -> str:
    """The conversation in the format of the suffix: stored text was cleared when it was stored."""
    if suffix == ".jsonl":
        return "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in jsonl_objects(memory, conversation))
    return "".join(markdown_pieces(memory, conversation))
