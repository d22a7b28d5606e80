"""Slash commands about conversations: new, resume, branch, rename, export."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import Choice, Choices, OpenPicker, Outcome, SendMessage, SessionSwitched, TextResult
from foundation.clock import iso
from foundation.errors import Misuse
from foundation.privacy import clear
from foundation.program import PROGRAM

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from collections.abc import Sequence

    from agent.services.conversation_list import ListedConversation
    from agent.session import Session
    from memory.records import Conversation

BACK: Final = "back"
AFTER: Final = "after"
TAKE_BACK: Final = f"/branch {BACK}"
TAKEN_BACK: Final = "Editing cancelled. The conversation continues from its latest message."
MAX_LISTED = 50
MAX_LABEL_CHARS = 60  # characters of a message in a list


async def _new(session: Session, title: str) -> Outcome:
    session.new(title)
    return SessionSwitched("New conversation.")


async def _resume(session: Session, ref: str) -> Outcome:
    if not ref:
        return OpenPicker(level="conversations", printed=lambda: _recent(session))
    from memory.errors import NotFound

    try:
        await session.resume(ref)
    except NotFound as unknown:
        from agent.services.conversation_list import matching

        found = await asyncio.to_thread(matching, session.memory, ref)
        if not found:
            raise
        message = unknown.message
        return OpenPicker(level="conversations", query=ref, printed=lambda: _found(message, found))
    return SessionSwitched(await session.restore_model())


async def _recent(session: Session) -> Outcome:
    conversations = await session.branch.recent(MAX_LISTED)
    items = tuple(map(_choice, conversations))
    hidden = await asyncio.to_thread(session.memory.conversations.one_shots)
    notes = (f"{hidden:,} of -p not shown: `{PROGRAM} conversations list`",) if hidden else ()
    if not items:
        return TextResult("\n".join(["There are no conversations yet.", *notes]))
    return Choices("Conversations", items, "/resume", notes)


async def _found(message: str, found: Sequence[ListedConversation]) -> Outcome:
    """The conversations that words find: without a screen none of them is resumed by itself."""
    items = tuple(_choice(listed.conversation) for listed in found[:MAX_LISTED])
    return Choices(f"{message} These contain the text:", items, "/resume")


def _choice(conversation: Conversation) -> Choice:
    updated = iso(conversation.updated)[:16].replace("T", " ")
    return Choice(conversation.id, conversation.title or "(untitled)", updated)


async def _branch(session: Session, ref: str) -> Outcome:
    if ref == BACK:
        taken_back = await take_back(session)
        return (
            SessionSwitched(taken_back, branch=True)
            if taken_back
            else TextResult("You are not editing an earlier message.")
        )
    verb, _, turn = ref.partition(" ")
    if verb == AFTER:
        from agent.commands.tree import go_on_after

        return await go_on_after(session, turn.strip())
    if ref:
        entry = await session.branch.branch_from(ref)
        notice = "Edit the message and send it to start a new branch. The messages after it stay on the old branch."
        return SessionSwitched(notice, prompt=(await asyncio.to_thread(session.memory.passage, entry)).text)
    if session.conversation is None:
        return await _own_messages(session)
    return OpenPicker(level="turns", rewrites=True, printed=lambda: _own_messages(session))


async def _own_messages(session: Session) -> Outcome:
    messages = await session.branch.own_messages(MAX_LISTED)
    items = tuple(
        Choice(entry.id, first_line(text), iso(entry.said_at)[:16].replace("T", " ") if entry.said_at else "")
        for entry, text in messages
    )
    return Choices("Branch from", items, "/branch") if items else TextResult("There is no message to branch from yet.")


async def take_back(session: Session) -> str:
    """Leaves the message as it is that the next one would have replaced, and the files as before where a rewind of both
    took them back; what was done in a sentence, "" where no message is being rewritten."""
    rewound = session.branch.rewound
    if not session.branch.take_back():
        return ""
    if not rewound:
        return TAKEN_BACK
    from agent.commands.checkpoints import redo_rewind

    return f"{TAKEN_BACK} {await redo_rewind(session, rewound)}"


def first_line(text: str) -> str:
    """The first line of a message, shortened for a list."""
    line = " ".join(text.split("\n", 1)[0].split())
    return line if len(line) <= MAX_LABEL_CHARS else line[:MAX_LABEL_CHARS].rstrip() + "…"


async def _retry(session: Session, _rest: str) -> Outcome:
    messages = await session.branch.own_messages(1)
    if not messages:
        return TextResult("There is no message to resend yet.")
    answer = "; the answer above is kept on its own branch" if await session.branch.is_answered() else ""
    return SendMessage(messages[0][1], again=True, notice=f"Resending the last message{answer}.")


async def _rename(session: Session, title: str) -> Outcome:
    if not title:
        raise Misuse("No title", "/rename needs the new title.", "/rename Trip planning")
    await session.branch.rename(clear(title))
    return TextResult(f"This conversation is now called “{title}”.")


async def _export(session: Session, rest: str) -> Outcome:
    from agent.exporters import export_to_file

    conversation = session.conversation
    if conversation is None:
        return TextResult("There is nothing to export yet.")
    path = await asyncio.to_thread(export_to_file, session.memory, conversation, rest)
    return TextResult(f"Exported to `{path}`.")


COMMANDS = (
    Command(name="new", summary="Begin a new conversation.", usage="[TITLE]", aliases=("clear",), run=_new),
    Command(
        name="resume",
        summary="Continue an earlier conversation.",
        usage="[ID]",
        aliases=("continue", "sessions", "history"),
        run=_resume,
    ),
    Command(
        name="branch",
        summary="Edit one of your messages on a new branch; the old branch is kept.",
        usage="[ID|after ID|back]",
        aliases=("fork",),
        run=_branch,
    ),
    Command(
        name="retry",
        summary="Resend the last message, after a failure or for another answer.",
        run=_retry,
    ),
    Command(name="rename", summary="Rename this conversation.", usage="TITLE", run=_rename),
    Command(
        name="export",
        summary="Export this conversation to a file.",
        usage="[FILE.md|FILE.jsonl]",
        aliases=("save",),
        run=_export,
    ),
)
