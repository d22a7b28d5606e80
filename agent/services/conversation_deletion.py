"""Deletion of a conversation with all that belongs to it, and a preview of what that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.deletion import attached_archives
from agent.services.forgetting import forget, planned, receipt_lines
from agent.services.pasted_images import remove_images_of
from models.messages import Role

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory
    from memory.records import Conversation


class DeletionReport(Struct, frozen=True):
    """What went: ids of pages of the archive that held nothing else. `sentences` are the receipt."""

    pages: tuple[str, ...]
    sentences: tuple[str, ...]


def delete_conversation(memory: Memory, conversation: Conversation) -> DeletionReport:
    """Forgets it with its archives, its delegated questions and all that was made of it, by a journalled job. Blocks.

    Raises StoreBusy while an answer is written in it; NotForgottenYet where the next command goes on with it.
    """
    from memory.forget.choice import chosen_conversations
    from memory.forget.plan import pages_of

    memory.conversations.refuse_in_use(conversation.seq)
    what = planned(memory, chosen_conversations(memory, conversation))
    messages, pages = _messages(memory, what.job.conversations), pages_of(memory, (), what.job.conversations)
    job = forget(memory, what)
    images = remove_images_of(memory.workspace, messages)
    sentences = (*receipt_lines(memory, job), images)
    gone = sorted(page for page in pages if not memory.vault.knows(page))
    return DeletionReport(tuple(gone), tuple(filter(None, sentences)))


def _messages(memory: Memory, conversations: Sequence[int]) -> frozenset[str]:
    """What the person typed in them, for the images that were pasted there."""
    return frozenset(
        entry.text
        for seq in conversations
        for entry in memory.conversations.all_entries(seq)
        if entry.role is Role.USER and entry.text is not None
    )


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
        "its index, pages, readable copy, file versions and draft",
        "what other conversations recalled of it",
    ]
    return (
        ("goes", f"{turns:,} turn{'' if turns == 1 else 's'}, {tokens:,} tokens, {days}, all branches"),
        ("with it", "; ".join(also)),
        ("stays", "files that its tools changed, your notes, and what you exported"),
        ("no undo", "A deletion cannot be taken back. Esc, then Ctrl+E, exports it first."),
    )
