"""Slash commands about memory: remember, recall, archive, search."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.commands.command import Command
from agent.commands.outcome import Choice, Choices, Outcome, Said
from foundation.errors import Misuse
from foundation.privacy import clear

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session


async def _remember(session: Session, text: str) -> Outcome:
    if not text:
        raise Misuse("Nothing to remember", "/remember needs a text.", "/remember The boiler is serviced in May.")
    conversation = session.conversation.id if session.conversation else None
    note = await asyncio.to_thread(session.memory.hot.remember, clear(text), heading=None, conversation=conversation)
    return Said(f"Remembered in `{note.path}` (line {note.line_first}).")


async def _recall(session: Session, ref: str) -> Outcome:
    from agent.recalling import recall_markdown

    if not ref:
        raise Misuse("Nothing to recall", "/recall needs a question or a reference.", "/recall pg_… or /recall boiler")
    return Said(await asyncio.to_thread(recall_markdown, session.memory, ref))


async def _archive(session: Session, rest: str) -> Outcome:
    from agent.archiving import archive_markdown

    if not rest:
        receipt = await session.compact()
        return Said(receipt.text if receipt else "There is nothing to archive yet: the conversation fits.")
    return Said(await asyncio.to_thread(archive_markdown, session.memory, rest))


async def _search(session: Session, text: str) -> Outcome:
    from memory.search import Query

    if not text:
        raise Misuse("Nothing to search for", "/search needs words.", "/search the boiler's warranty")
    results = await asyncio.to_thread(session.memory.search.query, Query(text=text))
    items = tuple(Choice(hit.id, hit.snippet, f"{hit.citation} · {hit.trust.value}") for hit in results.hits)
    return Choices(f"Found for “{text}”", items, "/recall") if items else Said(f"Nothing is remembered about “{text}”.")


COMMANDS = (
    Command(name="remember", summary="Add a note to MEMORY.md.", usage="TEXT", run=_remember),
    Command(name="recall", summary="Bring a passage back, whole.", usage="QUERY|ID", run=_recall),
    Command(
        name="archive",
        summary="Archive older turns of this conversation as pages, or a file.",
        usage="[FILE]",
        aliases=("compact",),
        run=_archive,
    ),
    Command(name="search", summary="Search everything remembered.", usage="QUERY", run=_search),
)
