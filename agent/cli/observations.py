"""`palimpsest observations`: notes that were made of tool results and messages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliGroup, TextCommand
from agent.cli.invocation import current, piped_input
from agent.services.deletion import notes_notice
from foundation.clock import iso
from foundation.errors import Misuse
from foundation.privacy import clear
from memory.access import refuse_read_only

if TYPE_CHECKING:  # loaded when the store is opened
    from memory.observations.store import StoredObservation


@click.group(cls=CliGroup)
def command() -> None:
    """List, correct and delete observations: notes of what tools showed and of what was decided.

    `search --kind observation` searches them, and `recall ID` shows one whole.
    """


@command.command("list")
@click.option(
    "--limit", "-k", default=50, type=click.IntRange(1, 10_000), help="Maximum number of results, newest first."
)
def list_(limit: int) -> None:
    """List the newest observations."""
    invocation = current()
    with invocation.memory() as memory:
        found = memory.observations.newest(limit)
    if invocation.json:
        output.json_object({"observations": [_observation_object(stored) for stored in found]})
        return
    rows = [(stored.id, iso(stored.time)[:10], _type(stored), _title(stored)) for stored in found]
    output.table(rows, ("ID", "DATE", "TYPE", "OBSERVATION"))


@command.command(cls=TextCommand)
@click.argument("ref", metavar="ID")
@click.argument("text", required=False)
def edit(ref: str, text: str | None) -> None:
    """Replace an observation with TEXT, standard input, or what you write in $EDITOR.

    The first line is the title, and lines that begin with “- ” are facts. An edited observation is never regenerated.
    """
    invocation = current()
    with invocation.memory() as memory:
        refuse_read_only(memory.workspace)
        stored = memory.observations.find(ref)
        content = text if text is not None else piped_input()
        if content is None:
            content = click.edit(stored.observation.text, extension=".md")
        if content is None:
            output.narrate("Nothing was changed.")
            return
        if not content.strip():
            raise Misuse("Empty text", "The new text is empty.", "`observations delete` deletes it.")
        stored = memory.observations.correct(stored.id, clear(content.strip()))
    if invocation.json:
        output.json_object(_observation_object(stored))
        return
    output.line(f"{stored.id}  {_title(stored)}")


@command.command()
@click.argument("ref", metavar="ID")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
def delete(ref: str, yes: bool) -> None:
    """Delete an observation. What it was made of stays, and it is not made again."""
    invocation = current()
    with invocation.memory() as memory:
        refuse_read_only(memory.workspace)
        stored = memory.observations.find(ref)
        if not yes:
            if not sys.stdin.isatty():
                raise Misuse("Not confirmed", f"Deleting {stored.id} must be confirmed.", "Add --yes.")
            output.confirm(f"Delete “{_title(stored)}” ({stored.id}) for good?")
        memory.observations.delete(stored.id)
        memory.search.update()
        if kept := notes_notice(memory.workspace, stored.id):
            output.narrate(kept)
    if invocation.json:
        output.json_object({"deleted": stored.id})
        return
    output.line(f"Deleted {stored.id}.")


def _type(stored: StoredObservation) -> str:
    return f"{stored.observation.importance.mark} {stored.observation.type}"


def _title(stored: StoredObservation) -> str:
    return stored.observation.title


def _observation_object(stored: StoredObservation) -> dict[str, Any]:
    observation = stored.observation
    return {
        "id": stored.id,
        "conversation": stored.conversation,
        "time": stored.time,
        "type": observation.type,
        "importance": observation.importance.value,
        "title": observation.title,
        "facts": list(observation.facts),
        "about": observation.narrative,
        "concepts": list(observation.concepts),
        "read": list(observation.read),
        "changed": list(observation.changed),
        "sources": list(observation.sources),
        "tokens": observation.tokens,
        "original_tokens": observation.original_tokens,
        "maker": stored.maker,
        "corrected": stored.corrected,
    }
