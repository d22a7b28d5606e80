"""Doing what the rules of retention say: archiving, and deleting where a person confirmed it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from agent.services.conversation_deletion import delete_conversations
from agent.services.forget import NotForgottenYet
from memory.errors import NotFound, StoreBusy

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.memory import Memory
    from memory.records import Conversation
    from memory.sync.renewal import LocationAccess
    from memory.upkeep.retention import RetentionPlan
    from memory.upkeep.state import ArchivingRun

OnDone = Callable[[int], None]
"""Called with the number of conversations that are done. An exception from it ends the run; what is done stays."""


class RetentionResult(Struct, frozen=True, kw_only=True):
    """What was done: the archiving (None where there was none), ids of deleted conversations, and sentences about
    what could not be done."""

    archived: ArchivingRun | None = None
    deleted: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()
    is_pending: bool = False  # the deletion is begun, and goes on with `forget`, or at a location of sync


def carry_out(
    memory: Memory,
    planned: RetentionPlan,
    locations: LocationAccess,
    *,
    delete: bool,
    on_done: OnDone | None = None,
) -> RetentionResult:
    """Archives, and with `delete` deletes, what the plan says, unless it was touched meanwhile. Blocks."""
    from memory.upkeep.disk import shrink_database, unreturned_room
    from memory.upkeep.retention import BY_RULE, archive_conversations

    archive, delete_these = planned.doing("archive"), planned.doing("delete") if delete else ()
    done = 0

    def report() -> None:
        nonlocal done
        done += 1
        if on_done is not None:
            on_done(done)

    run, sentences = archive_conversations(memory, archive, planned.time, BY_RULE, report)
    leaving: list[Conversation] = []
    for each in delete_these:
        with suppress(NotFound):  # deleted meanwhile
            conversation = memory.conversations.at(each.seq)
            if conversation.updated != each.touched:
                sentences.append(f"{conversation.id} was changed meanwhile and is kept.")
                continue
            try:
                memory.conversations.refuse_in_use(conversation.seq)
            except StoreBusy as error:
                sentences.append(f"{conversation.id} is kept: {error.message}")
                continue
            leaving.append(conversation)
        report()
    deleted, is_pending = [conversation.id for conversation in leaving], False
    try:
        if leaving:
            deletion = delete_conversations(memory, leaving, locations)
            sentences += deletion.sentences
            is_pending = bool(deletion.left)
    except NotForgottenYet as error:
        sentences.append(f"{error.message} {error.hint}".strip())
        deleted, is_pending = [], True
    sentences += filter(None, (shrink_database(memory), unreturned_room(memory)))
    return RetentionResult(
        archived=run, deleted=tuple(deleted), sentences=tuple(dict.fromkeys(sentences)), is_pending=is_pending
    )
