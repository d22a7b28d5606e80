"""`palimpsest recall`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from agent.cli import output
from agent.cli.group import Leaf
from agent.cli.invocation import Invocation, current
from agent.cli.later import Coming
from foundation.errors import PalimpsestError
from foundation.trust import Trust
from memory.errors import Damaged

if TYPE_CHECKING:  # reading a picture loads no store
    from agent.recalling import Recollection


@click.command(cls=Leaf)
@click.argument("asked", metavar="QUERY|ID|FILE.png")
@click.option(
    "-k", "limit", type=click.IntRange(min=1, max=100), default=5, show_default=True, help="How many passages."
)
@click.option("--page", type=click.IntRange(min=1), default=1, show_default=True, help="Which page of what was found.")
@click.option("--conversation", metavar="ID", default="", help="Within one conversation: its id or title.")
@click.option(
    "--engine",
    type=Coming(["auto", "cells"], later=["rapidocr", "tesseract", "deepseek", "server"]),
    default="auto",
    show_default=True,
    help="How a picture is read.",
)
def command(*, asked: str, limit: int, page: int, conversation: str, engine: str) -> None:
    """Bring passages back, whole and unaltered to the last character.

    FILE.png is a page's picture: it is read from its pixels alone, without a workspace, whatever it is called. ID is
    an entry's, a page's (pg_…) or a note's (m_…). Anything else is a question to everything remembered.

    The text goes to standard output; where it comes from and how far to trust it, to standard error.
    """
    from agent.recalling import as_object, is_picture, recall, recall_picture

    invocation = current()
    if is_picture(asked):
        found = _compared(invocation, recall_picture(Path(asked)))
    else:
        with invocation.memory(recovering=True) as memory:
            found = recall(memory, asked, limit=limit, page=page, conversation=conversation)
            if not found.hits and (troubles := memory.vault.troubles()):
                raise Damaged("What was found is damaged", " ".join(troubles), "A backup of the workspace has it.")
    if invocation.json:
        output.json_object(as_object(found))
        return
    _print(found)


def _compared(invocation: Invocation, found: Recollection) -> Recollection:
    """A page's hash proves that its pixels are as they were drawn, not who drew them: what the workspace knows of it
    counts more. No workspace is needed, and one that cannot be opened is told."""
    if not invocation.workspace.database.exists():
        return found
    (hit,) = found.hits
    try:
        with invocation.memory() as memory:
            forged = memory.vault.contradicts(hit.id, hit.text)
    except PalimpsestError as error:
        output.say(f"The picture could not be compared with the workspace: {error.message}")
        return found
    if not forged:
        return found
    output.say(f"This workspace has a page {hit.id} with another text: the picture was altered, or is not that page.")
    return _doubted(found)


def _doubted(found: Recollection) -> Recollection:
    """The same, none of it to be trusted to the letter: every line is in doubt."""
    hits = tuple(
        replace(hit, trust=Trust.APPROXIMATE, doubt=tuple(range(1, hit.text.count("\n") + 2))) for hit in found.hits
    )
    return replace(found, hits=hits)


def _print(found: Recollection) -> None:
    from agent.recalling import describe

    if not found.hits:
        output.say(f"Nothing is remembered about “{found.query}”.")
        return
    for place, hit in enumerate(found.hits):
        output.say(("\n" if place else "") + f"{hit.citation} · {describe(hit)}")
        output.data(hit.text)
        last = place == len(found.hits) - 1
        if not hit.text.endswith("\n") and (not last or sys.stdout.isatty()):
            output.line()
    if found.next:
        output.say(f"\n{found.total:,} in all; --page {found.next} shows more.")
