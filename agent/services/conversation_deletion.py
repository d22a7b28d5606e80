"""Deletion of a conversation with all that belongs to it, and a preview of what that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.deletion import attached_archives
from agent.services.forget import forget_everywhere, planned
from foundation.program import PROGRAM

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.forget.choice import NamedLine
    from memory.memory import Memory
    from memory.records import Conversation
    from memory.sync.renewal import LocationAccess, UnreachedLocation


class DeletionReport(Struct, frozen=True):
    """What went: ids of pages of the archive that held nothing else. `sentences` are the receipt; `left` are locations
    of sync that hold it still."""

    pages: tuple[str, ...]
    sentences: tuple[str, ...]
    left: tuple[UnreachedLocation, ...] = ()


def delete_conversation(memory: Memory, conversation: Conversation, locations: LocationAccess | None) -> DeletionReport:
    """Forgets it with its archives, its delegated questions and all that was made of it, by a journalled job. Blocks.

    Without `locations` none of sync is written to. Raises StoreBusy while an answer is written in it; NotForgottenYet
    where a later command goes on with it.
    """
    return delete_conversations(memory, [conversation], locations)


def delete_conversations(
    memory: Memory, conversations: Sequence[Conversation], locations: LocationAccess | None
) -> DeletionReport:
    """The same for several, by one job: the workspace is looked through once."""
    from memory.forget.choice import chosen_conversations
    from memory.forget.plan import keeping_lines, pages_of

    for conversation in conversations:
        memory.conversations.refuse_in_use(conversation.seq)
    what = planned(memory, chosen_conversations(memory, *conversations))
    noted = what.lines
    what = keeping_lines(memory, what, noted)  # they are the person's own
    pages = pages_of(memory, (), what.job.conversations)
    receipt = forget_everywhere(memory, what, locations)
    sentences = (*receipt.lines, _noted_sentence(noted))
    gone = sorted(page for page in pages if not memory.vault.knows(page))
    return DeletionReport(tuple(gone), tuple(filter(None, sentences)), receipt.left)


def _noted_sentence(noted: Sequence[NamedLine]) -> str:
    """A sentence about lines of notes that hold its words; "" where there are none."""
    if not noted:
        return ""
    places = ", ".join(f"{line.file}:{line.number}" for line in noted[:20])
    return f"Your notes are kept: {places}. `{PROGRAM} forget` with their text deletes them, too."


def deletion_preview(memory: Memory, conversation: Conversation) -> tuple[tuple[str, str], ...]:
    """Rows of a name and a sentence: what a deletion takes, and what it leaves. Blocks."""
    figures = memory.conversations.figures([conversation.seq]).get(conversation.seq)
    turns, tokens = (figures.turns, figures.tokens) if figures else (0, 0)
    began, ended = conversation.created.astimezone(), conversation.updated.astimezone()
    days = f"{began:%Y-%m-%d}" if began.date() == ended.date() else f"{began:%Y-%m-%d} to {ended:%Y-%m-%d}"
    delegated, archives = len(memory.conversations.delegated(conversation.seq)), attached_archives(memory, conversation)
    also = [
        *([f"{delegated:,} delegated question{'s' if delegated > 1 else ''}"] if delegated else []),
        *([f"{len(archives):,} archived attachment{'s' if len(archives) > 1 else ''}"] if archives else []),
        "index, pages, readable copy, file versions and draft",
        "passages that other conversations recalled from it",
    ]
    return (
        ("goes", f"{turns:,} turn{'' if turns == 1 else 's'}, {tokens:,} tokens, {days}, all branches"),
        ("with it", "; ".join(also)),
        ("stays", "files that its tools changed, your notes, and exports"),
        ("no undo", "A deletion cannot be undone. To export first, press Esc, then Ctrl+E."),
    )
