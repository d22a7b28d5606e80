"""Slash commands about memory: remember, recall, observations, search."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import OpenNamedScreen, OpenSearch, Outcome, TextResult
from agent.commands.tables import literal, observation_table, version_table
from foundation.errors import Misuse
from foundation.privacy import clear
from foundation.program import PROGRAM
from foundation.terminal_text import visible

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session

MAX_OBSERVATIONS: Final = 30  # listed in the chat
MAX_VERSIONS: Final = 40  # listed in the chat
_FILE_NAME: Final = re.compile(r"\.[A-Za-z]\w{0,7}\Z")


async def _remember(session: Session, text: str) -> Outcome:
    from memory.versions.cause import Author, caused_by  # of a room that the list of commands must not load

    if not text:
        raise Misuse("Nothing to remember", "/remember needs a text.", "/remember The boiler is serviced in May.")
    conversation = session.conversation.id if session.conversation else None
    with caused_by(Author.USER, "/remember"):
        note = await asyncio.to_thread(
            session.memory.hot.remember, clear(text), heading=None, conversation=conversation
        )
    return TextResult(f"Saved to `{note.path}` (line {note.line_first}).")


async def _memory(session: Session, rest: str) -> Outcome:
    action, _, file = rest.partition(" ")
    match action, file.strip():
        case "", _:
            return OpenNamedScreen("memory", "", lambda: _printed_files(session))
        case "log", file:
            return await asyncio.to_thread(_version_log, session, file)
        case "undo", number if not number or number.isdecimal():
            from agent.services.version_restore import undo_change

            done = await asyncio.to_thread(undo_change, session.memory, int(number) if number else None)
            return TextResult(literal(done.sentence), changes_context=done.is_changed, failed=not done.is_changed)
        case _:
            raise Misuse(
                "Unknown action",
                f"/memory has no action {rest}.",
                "/memory, /memory log [FILE], /memory undo [VERSION]",
            )


async def _printed_files(session: Session) -> Outcome:
    from agent.services.memory_files import memory_files

    rows = [
        f"| `{visible(file.path)}` | {file.tokens:,} | {file.size:,} | {file.share} |"
        for file in await memory_files(session)
    ]
    head = ["| file | tokens | bytes | in the request |", "|---|---:|---:|---|"]
    return TextResult("\n".join([*head, *rows]) if rows else "There are no notes yet. `/remember TEXT` adds one.")


def _version_log(session: Session, file: str) -> Outcome:
    """The newest versions of the file, or of all files. Blocks."""
    from agent.services.file_versions import version_rows
    from memory.versions.lost import lost_sentence

    rows = version_rows(session.memory, file or None, most=MAX_VERSIONS + 1)
    older = ["", f"Older ones: `{PROGRAM} memory log`."] if len(rows) > MAX_VERSIONS else []
    lost = lost_sentence(session.memory.versions.store.lost_since())
    text = version_table(rows[:MAX_VERSIONS])
    return TextResult("\n".join([text, *older, *(["", lost] if lost else [])]))


async def _recall(session: Session, query: str) -> Outcome:
    async def printed() -> Outcome:
        """The best passages, whole."""
        from agent.services.recall import recall_markdown

        if not query:
            hint = "/recall pg_… or /recall boiler"
            raise Misuse("Nothing to recall", "/recall needs a query or a reference.", hint)
        return TextResult(await asyncio.to_thread(recall_markdown, session.memory, query))

    return OpenSearch(query, printed, whole=True)


async def _observations(session: Session, rest: str) -> Outcome:
    action, _, argument = rest.partition(" ")
    ref, _, text = argument.strip().partition(" ")
    observations = session.memory.observations
    match action:
        case "":
            return TextResult(observation_table(await asyncio.to_thread(observations.newest, MAX_OBSERVATIONS)))
        case "edit" if ref and text.strip():
            stored = await asyncio.to_thread(observations.correct, ref, clear(text.strip()))
            return TextResult(f"{stored.id} is now: {stored.observation.title}", changes_context=True)
        case "delete" if ref:
            stored = await asyncio.to_thread(observations.delete, ref)
            return TextResult(f"Deleted {stored.id}; its source entry is kept.", changes_context=True)
        case _:
            raise Misuse("Which?", "/observations lists them.", "/observations edit ID TEXT, /observations delete ID")


async def _search(session: Session, text: str) -> Outcome:
    from agent.commands.search_args import search  # loads the options of memory, which the list of commands must not

    return await search(session, text)


COMMANDS = (
    Command(name="remember", summary="Add a note to MEMORY.md.", usage="TEXT", beside_turns=True, run=_remember),
    Command(
        name="memory",
        summary="View and edit MEMORY.md and memory/*.md; list versions; undo changes by a model.",
        usage="[log [FILE]|undo]",
        keys="↑ ↓ choose, Enter edits, Ctrl+G opens your editor, v views the file, d shows changes, h its "
        "versions, a the versions of all files, u undoes its last change, Esc closes. In the editor: Ctrl+S "
        "saves, Esc closes. In the versions: Enter views one, d shows its changes, r restores it, / "
        "filters, Esc closes.",
        beside_turns=True,
        run=_memory,
    ),
    Command(
        name="recall",
        summary="Show a stored passage by id, label or page picture; other text opens the search.",
        usage="[QUERY|ID|LABEL|FILE.png]",
        keys="Opens /search with the same keys. In a passage: ↑ ↓ PgUp PgDn Home End scroll, p shows its "
        "page as a picture, o opens the picture in the system's viewer, i inserts the citation into the "
        "prompt, c copies the passage, Esc goes back. In a picture: + and − zoom, the arrows move, n and b "
        "turn pages, o opens the viewer.",
        beside_turns=True,
        run=_recall,
    ),
    Command(
        name="observations",
        summary="List observations; edit or delete one.",
        usage="[edit ID TEXT|delete ID]",
        run=_observations,
    ),
    Command(
        name="search",
        summary="Search everything remembered, as you type.",
        usage="[QUERY]",
        keys="`/search --help` lists the ways to search; `--recent`, `--exact` and the other command-line "
        "options work here, too. F3 and Ctrl+Shift+F also open it. Filters: kind:note kind:page since:30d "
        "until:2026-03-01 who:Anna in:House type:decision concept:gotcha file:http.py entity:money trust:exact; "
        '"an exact phrase", -without. '
        "In the list: ↑ ↓ choose, Enter opens the result in its conversation, Ctrl+Y inserts the citation "
        "into the prompt, Ctrl+O shows the whole passage, Ctrl+G its page as a picture, Ctrl+S explains the "
        "score, Tab moves to the list, where y, o, p and s do the same, Esc closes.",
        beside_turns=True,
        run=_search,
    ),
)
