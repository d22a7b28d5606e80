"""A conversation's data outside the store, deleted with it: prompts, its drafts, pasted images, an archive's text file.

Collect the traces before the conversation is deleted, and remove them after.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.drafts import clear_marked, numbered, without_marks
from agent.services.pasted_images import remove_images_of
from foundation.files import UnsafePath, is_file, list_files, list_folders, read_bytes, remove, write_atomically
from foundation.paths import Workspace, draft_name
from foundation.privacy import joined, json_line
from memory.errors import MemoryFailure
from memory.records import Conversation, Entry, EntryKind
from models.messages import Role

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory

_MIN_MATCH_CHARS = 12  # a shorter message may occur in any file by chance


class Traces(Struct, frozen=True):
    """`messages` are the user's messages as stored; `kept_text` is an archive's whole text, "" for a chat."""

    conversation: str
    messages: frozenset[str]
    kept_text: str = ""


def traces_of(memory: Memory, conversation: Conversation) -> Traces:
    """Collects what has to be removed once the conversation is deleted."""
    typed, pages = set[str](), list[str]()
    for entry in memory.conversations.all_entries(conversation.seq):
        if entry.kind is EntryKind.PAGE:
            pages.append(_text(memory, entry))
        elif entry.kind is EntryKind.MESSAGE and entry.role is Role.USER:
            typed.add(_text(memory, entry).strip())
    return Traces(conversation.id, frozenset(typed - {""}), "".join(pages))


def remove_traces(workspace: Workspace, traces: Traces) -> tuple[str, ...]:
    """Removes what belongs to this conversation alone; gives a sentence for each kind that was removed or kept."""
    sentences = (
        _remove_from_history(workspace.prompt_history, traces),
        _remove_kept_text(workspace.kept_texts, traces),
    )
    for name in numbered(traces.conversation):
        remove(workspace.drafts / draft_name(name), missing_ok=True)
    images = remove_images_of(workspace, traces.messages)  # now that its drafts and prompts are gone
    return tuple(filter(None, (*sentences, images, _remaining_copies(workspace, traces))))


def _text(memory: Memory, entry: Entry) -> str:
    with suppress(MemoryFailure):
        return memory.passage(entry).text
    return ""


def _remove_from_history(path: Path, traces: Traces) -> str:
    """Removes the conversation's messages from the prompt history."""
    if not is_file(path):
        return ""
    lines = [_parsed(line) for line in read_bytes(path).splitlines()]
    remaining = [line for line in lines if without_marks(line)[0].strip() not in traces.messages]
    if len(remaining) == len(lines):
        return ""
    write_atomically(path, joined(json_line(clear_marked(line)) for line in remaining if line))
    removed = len(lines) - len(remaining)
    return f"{removed:,} of its messages {'was' if removed == 1 else 'were'} taken out of what you typed (↑)."


def _parsed(line: bytes) -> str:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    return message if isinstance(message, str) else ""


def _remove_kept_text(folder: Path, traces: Traces) -> str:
    """Deletes the text file of an archive, unless it was edited."""
    if not traces.kept_text:
        return ""
    body = traces.kept_text.encode("utf-8", "backslashreplace")
    removed = [path for path in list_files(folder, "*.md") if read_bytes(path) == body]
    for path in removed:
        remove(path)
    return f"{' and '.join(str(path) for path in removed)} was deleted with it." if removed else ""


def _remaining_copies(workspace: Workspace, traces: Traces) -> str:
    """Names the user's own files, and their versions, that repeat typed messages: they are kept."""
    messages = [text.encode("utf-8", "backslashreplace") for text in traces.messages if len(text) >= _MIN_MATCH_CHARS]
    paths = dict.fromkeys(str(path) for path, file in _user_files(workspace) if _contains_any(file, messages))
    return f"Words of it stay in what is your own: look at {' and '.join(paths)}." if paths else ""


def _user_files(workspace: Workspace) -> Iterator[tuple[Path, Path]]:
    """Pairs: the path to report, and the file to search."""
    yield workspace.memory_md, workspace.memory_md
    for file in files_below(workspace.memory_dir):
        yield file, file
    for file in files_below(workspace.versions):
        yield workspace.versions, file


def files_below(folder: Path) -> Iterator[Path]:
    """Every regular file in the folder and its subfolders."""
    yield from list_files(folder)
    for inner in list_folders(folder):
        yield from files_below(inner)


def _contains_any(file: Path, messages: list[bytes]) -> bool:
    with suppress(OSError, UnsafePath):
        return bool(messages) and is_file(file) and any(text in read_bytes(file) for text in messages)
    return False
