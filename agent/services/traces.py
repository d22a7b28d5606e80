"""What of a conversation stands outside the store, and goes with it: typed messages, its draft, the kept text.

To be looked for before the conversation is deleted, and removed after.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from foundation.files import UnsafePath, is_file, list_files, list_folders, read_bytes, remove, write_atomically
from foundation.paths import Workspace, draft_name
from foundation.privacy import clear, joined, json_line
from memory.errors import MemoryFailure
from memory.memory import Memory
from memory.records import Conversation, Entry, EntryKind
from models.messages import Role

_TELLING = 12  # characters: a shorter message may be anybody's


class Traces(Struct, frozen=True):
    """`typed` are the user's messages as they were stored; `kept_text` is all of an archive's text, "" elsewhere."""

    conversation: str
    typed: frozenset[str]
    kept_text: str = ""


def traces_of(memory: Memory, conversation: Conversation) -> Traces:
    """What to look for, once the conversation is gone."""
    typed, pages = set[str](), list[str]()
    for entry in memory.conversations.all_entries(conversation.seq):
        if entry.kind is EntryKind.PAGE:
            pages.append(_text(memory, entry))
        elif entry.kind is EntryKind.MESSAGE and entry.role is Role.USER:
            typed.add(_text(memory, entry).strip())
    return Traces(conversation.id, frozenset(typed - {""}), "".join(pages))


def remove_traces(workspace: Workspace, traces: Traces) -> tuple[str, ...]:
    """Removes what is the conversation's alone; gives a sentence for each kind that was removed or had to stay."""
    told = (_forget_typed(workspace.prompt_history, traces), _remove_kept(workspace.kept_texts, traces))
    remove(workspace.drafts / draft_name(traces.conversation), missing_ok=True)
    return tuple(filter(None, (*told, _copies(workspace, traces))))


def _text(memory: Memory, entry: Entry) -> str:
    with suppress(MemoryFailure):
        return memory.passage(entry).text
    return ""


def _forget_typed(path: Path, traces: Traces) -> str:
    """Takes the conversation's messages out of what was typed."""
    if not is_file(path):
        return ""
    lines = [_parsed(line) for line in read_bytes(path).splitlines()]
    rest = [line for line in lines if line.strip() not in traces.typed]
    if len(rest) == len(lines):
        return ""
    write_atomically(path, joined(json_line(clear(line)) for line in rest if line))
    gone = len(lines) - len(rest)
    return f"{gone:,} of its messages {'was' if gone == 1 else 'were'} taken out of what you typed (↑)."


def _parsed(line: bytes) -> str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def _remove_kept(folder: Path, traces: Traces) -> str:
    """Deletes the text that was kept beside an archive, where it is as it was written."""
    if not traces.kept_text:
        return ""
    body = traces.kept_text.encode("utf-8", "backslashreplace")
    gone = [path for path in list_files(folder, "*.md") if read_bytes(path) == body]
    for path in gone:
        remove(path)
    return f"{' and '.join(str(path) for path in gone)} was deleted with it." if gone else ""


def _copies(workspace: Workspace, traces: Traces) -> str:
    """Where a person's own files, or copies of them from before a change, repeat what was typed: those stay."""
    said = [text.encode("utf-8", "backslashreplace") for text in traces.typed if len(text) >= _TELLING]
    places = dict.fromkeys(str(place) for place, file in _own(workspace) if _repeats(file, said))
    return f"Words of it stay in what is your own: look at {' and '.join(places)}." if places else ""


def _own(workspace: Workspace) -> Iterator[tuple[Path, Path]]:
    """What to name, and the file to look into."""
    yield workspace.memory_md, workspace.memory_md
    for file in files_below(workspace.memory_dir):
        yield file, file
    for file in files_below(workspace.versions):
        yield workspace.versions, file


def files_below(folder: Path) -> Iterator[Path]:
    """Every regular file in the folder and those in it."""
    yield from list_files(folder)
    for inner in list_folders(folder):
        yield from files_below(inner)


def _repeats(file: Path, said: list[bytes]) -> bool:
    with suppress(OSError, UnsafePath):
        return bool(said) and is_file(file) and any(text in read_bytes(file) for text in said)
    return False
