"""What `/undo` says where it can take nothing back, and why."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.checkpoints.history import CheckpointHistory
    from agent.session import Session

MAX_COMMANDS, MOST_SHOWN = 3, 200  # commands that are named, characters of each


def nothing_to_undo(session: Session, history: CheckpointHistory) -> str:
    """The sentence for a conversation without a change that can be taken back. Blocks."""
    from agent.checkpoints.history import EDITS
    from agent.permissions.action import Access
    from agent.permissions.tool_facts import names_with
    from foundation.files import exists, list_folders

    folder = session.checkpoints.folder
    if any(record.kind in EDITS for record in history.records):
        return "Nothing left to undo: all changes in this conversation are undone."
    if not exists(folder / "journal.jsonl") and list_folders(folder / "blobs"):
        return f"Nothing to undo: file versions exist, but {folder} has no journal."
    if _calls_of(session, names_with(Access.EDIT), failed=False):
        return (
            "Nothing to undo: tools changed files in this conversation, but the checkpoints no longer "
            "exist. Old checkpoints are deleted, and so are those with forgotten text."
        )
    if calls := _calls_of(session, names_with(Access.RUN), failed=True):
        commands = [_command_of(arguments) for arguments in calls[-MAX_COMMANDS:]]
        return (
            "Nothing to undo: commands ran in this conversation, but changed no file of the project that /undo "
            "covers. The last commands:\n\n"
            + "\n".join(f"- {code_span(visible_line(command))}" for command in commands)
        )
    return "Nothing to undo: no tool changed a file in this conversation."


def _calls_of(session: Session, tools: frozenset[str], *, failed: bool) -> list[str]:
    """The arguments of the calls of these tools in the conversation that were carried out, oldest first; `failed`: also
    of those that failed."""
    from memory.records import EntryKind
    from memory.tool_calls import tool_calls

    if session.conversation is None:
        return []
    waiting, done = dict[str, str](), list[str]()
    for entry in session.memory.conversations.all_entries(session.conversation.seq):
        waiting |= {call.id: call.arguments for call in tool_calls(entry) if call.name in tools}
        if entry.kind is not EntryKind.TOOL_RESULT or (entry.text or "").startswith("Not done: "):
            continue
        if failed or not entry.meta.get("failed"):
            arguments = waiting.pop(str(entry.meta.get("call_id", "")), None)
            done += [arguments] if arguments is not None else []
    return done


def _command_of(arguments: str) -> str:
    """The command of a call's arguments, cut where it is long."""
    with suppress(ValueError, RecursionError):
        parsed: object = json.loads(arguments)
        if isinstance(parsed, dict):
            arguments = str(cast("dict[str, object]", parsed).get("command", arguments))
    return arguments if len(arguments) <= MOST_SHOWN else f"{arguments[: MOST_SHOWN - 1]}…"


def code_span(text: str) -> str:
    """The text as Markdown code, with more backticks around it than are in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    space = " " if longest else ""
    return "`" * (longest + 1) + space + text + space + "`" * (longest + 1)
