"""`palimpsest conversations`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.export import DamageReport
from agent.cli.group import CliGroup, raw_option
from agent.cli.invocation import current
from agent.exporters import jsonl_objects, markdown_pieces
from agent.services.conversation_deletion import delete_conversation
from agent.services.deletion import deletion_time
from agent.services.forget import finish_pending
from foundation.clock import iso
from foundation.errors import Misuse, TemporaryFailure
from foundation.privacy import clear
from memory.errors import NotFound

if TYPE_CHECKING:  # the store is loaded when it is opened
    from memory.records import Conversation


@click.group(cls=CliGroup)
def command() -> None:
    """List, show, draw, rename and delete conversations.

    ID is a conversation's id, the beginning of one, or its exact title.
    """


@command.command("list")
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of results."
)
@click.option("--page", type=click.IntRange(min=1), default=1, show_default=True, help="Page of results.")
@click.option("--label", help="Only conversations with this label.")
def list_(limit: int, page: int, label: str | None) -> None:
    """List conversations, newest first."""
    invocation = current()
    with invocation.memory() as memory:
        conversations = memory.conversations.recent(limit=limit, offset=(page - 1) * limit, label=label)
    if invocation.json:
        output.json_object({"conversations": [conversation_object(conversation) for conversation in conversations]})
        return
    rows = [
        (iso(conversation.updated)[:16].replace("T", " "), conversation.title, conversation.source, conversation.id)
        for conversation in conversations
    ]
    output.table(rows, ("UPDATED", "TITLE", "SOURCE", "ID"))


@command.command()
@click.argument("ref", metavar="ID")
@raw_option
def show(ref: str, raw: bool) -> None:
    """Show the current branch of a conversation as Markdown, or with --json every entry."""
    invocation = current()
    with invocation.memory() as memory:
        conversation = memory.conversations.find(ref)
        troubles = DamageReport(invocation)
        if invocation.json:
            entries = list(jsonl_objects(memory, conversation, troubles))
            output.json_object({**conversation_object(conversation), "entries": entries})
        else:
            for piece in markdown_pieces(memory, conversation, troubles):
                output.data(piece, raw=raw)
        troubles.report()


@command.command()
@click.argument("ref", metavar="ID")
@click.option("--pruned", is_flag=True, help="With turns that were pruned from view.")
def tree(ref: str, pruned: bool) -> None:
    """Show the tree of turns, with tokens and changed files."""
    from agent.checkpoints.checkpoints import Checkpoints
    from agent.commands.tree import LEGEND, changed_files, row_line
    from agent.services.conversation_tree import read_tree
    from foundation.clock import SystemClock

    invocation = current()
    with invocation.memory() as memory:
        checkpoints = Checkpoints(memory.workspace.checkpoints, SystemClock())
        read = read_tree(memory, memory.conversations.find(ref), lambda id_: changed_files(checkpoints, id_))
    if invocation.json:
        turns = [turn for turn in read.turns.values() if pruned or not turn.is_pruned]
        output.json_object({**conversation_object(read.conversation), "turns": turns})
        return
    for row in read.rows(pruned=pruned):
        output.line(row_line(row))
    output.line(LEGEND)


@command.command()
@click.argument("ref", metavar="ID")
@click.argument("title")
def rename(ref: str, title: str) -> None:
    """Rename a conversation."""
    invocation = current()
    with invocation.memory() as memory:
        conversation = memory.conversations.rename(memory.conversations.find(ref).seq, clear(title))
        memory.mirrors.update(conversation.seq)
    if invocation.json:
        output.json_object(conversation_object(conversation))
        return
    output.line(f"{conversation.id}  {conversation.title}")


@command.command()
@click.argument("ref", metavar="ID")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
def delete(ref: str, yes: bool) -> None:
    """Delete a conversation with all its entries and pages, and what other conversations recalled of it.

    It asks first. Archives of texts that were attached to its messages go with it, and so do the conversations of
    questions that were delegated in it. What is cut short goes on with `palimpsest forget`.

    Exit status: 75 where a location of `sync` holds it still, or the deletion is begun and not finished.
    """
    invocation = current()
    with invocation.memory() as memory:
        memory.recover()
        finish_pending(memory, output.narrate)
        try:
            conversation = memory.conversations.find(ref)
        except NotFound:
            if (deleted := deletion_time(memory, ref)) is None:
                raise
            output.line(f"{ref} was deleted on {iso(deleted)[:10]}.")
            return
        name = f"“{conversation.title or 'untitled'}” ({conversation.id})"
        if not yes:
            if not sys.stdin.isatty():
                raise Misuse("Not confirmed", f"Deleting {name} must be confirmed.", "Add --yes.")
            output.confirm(f"Delete {name} for good?")
        report = delete_conversation(memory, conversation, invocation.location_access)
    if report.left:
        invocation.status = TemporaryFailure.exit_status
    for sentence in report.sentences:
        output.narrate(sentence)
    if invocation.json:
        output.json_object({"deleted": conversation.id, "pages": list(report.pages)})
        return
    output.line(f"Deleted {name}.")


def conversation_object(conversation: Conversation) -> dict[str, Any]:
    """A conversation as JSON."""
    return {
        "id": conversation.id,
        "title": conversation.title,
        "source": conversation.source,
        "created": conversation.created,
        "updated": conversation.updated,
        "kind": conversation.kind,
        "labels": list(conversation.labels),
    }
