"""Deletion of a conversation with all that belongs to it, and a preview of what that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.deletion import (
    attached_archives,
    notes_notice,
    older_copies_notice,
    purge_from_checkpoints,
    purge_from_mirrors,
    purge_from_search,
    unreadable_results_notice,
)
from agent.services.traces import remove_traces, traces_of

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory
    from memory.records import Conversation

_UNFINISHED = "Some of its pages could not be let go of just now: the next command that writes goes on with it."


class DeletionReport(Struct, frozen=True):
    """What went: ids of pages that held nothing else. `sentences` name what stays, and what needs the person."""

    pages: tuple[str, ...]
    sentences: tuple[str, ...]


def delete_conversation(memory: Memory, conversation: Conversation) -> DeletionReport:
    """Deletes it with its archives, its delegated questions and what was recalled of it, by the store's journal: a
    deletion that is cut short goes on with the next writer. Blocks. Raises StoreBusy while an answer is written in it.
    """
    memory.conversations.refuse_in_use(conversation.seq)
    together = (conversation, *memory.conversations.delegated(conversation.seq))
    trace_sentences = [
        sentence  # first, because it can be repeated
        for deleted in together
        for sentence in remove_traces(memory.workspace, traces_of(memory, deleted))
    ]
    memory.mirrors.remove(conversation.seq)
    for attached in attached_archives(memory, conversation):
        memory.knowledge.delete_conversation(attached)
    deletion = memory.knowledge.delete_conversation(conversation.seq)
    copied = (*(deleted.id for deleted in together), *deletion.changed)
    pages = f"{len(deletion.pages):,} archived pages carried nothing else and went with it." if deletion.pages else ""
    sentences = (
        pages,
        "" if deletion.finished else _UNFINISHED,
        purge_from_search(memory),
        *trace_sentences,
        purge_from_mirrors(memory),
        purge_from_checkpoints(memory, conversation.id),
        unreadable_results_notice(deletion.left),
        *dict.fromkeys(older_copies_notice(memory.workspace, id_) for id_ in copied),
        *dict.fromkeys(notes_notice(memory.workspace, id_) for id_ in copied),
    )
    return DeletionReport(tuple(deletion.pages), tuple(filter(None, sentences)))


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
