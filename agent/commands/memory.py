"""Slash commands about memory: remember, recall, archive, observations, search."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import OpenRecall, Outcome, Proposal, TextResult
from agent.commands.tables import observation_table, preview_rows
from foundation.errors import Misuse
from foundation.privacy import Cleared, clear
from foundation.program import PROGRAM

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from context.compaction.preview import CompactionPreview
    from memory.pages.types import OnPage

MAX_OBSERVATIONS: Final = 30  # listed in the chat
_FILE_NAME: Final = re.compile(r"\.[A-Za-z]\w{0,7}\Z")


async def _remember(session: Session, text: str) -> Outcome:
    if not text:
        raise Misuse("Nothing to remember", "/remember needs a text.", "/remember The boiler is serviced in May.")
    conversation = session.conversation.id if session.conversation else None
    note = await asyncio.to_thread(session.memory.hot.remember, clear(text), heading=None, conversation=conversation)
    return TextResult(f"Remembered in `{note.path}` (line {note.line_first}).")


async def _recall(_session: Session, query: str) -> Outcome:
    return OpenRecall(query)


async def _archive(session: Session, rest: str) -> Outcome:
    sure, name = _split_yes(rest)
    if name == "--undo":
        receipt = await session.compaction.undo()
        return TextResult(receipt.text, changes_context=True)
    if name.startswith("--"):
        return await _list_or_refuse(session, name)
    if _is_file_name(name):
        return _file_proposal(session, name)
    outlook = await session.compaction.preview()
    if outlook is None:
        return TextResult("There is nothing to archive yet: the conversation fits.")
    return _turns_proposal(session, outlook, clear(name), sure=sure)


def _turns_proposal(session: Session, outlook: CompactionPreview, label: Cleared, *, sure: bool) -> Proposal:
    async def run(on_page: OnPage) -> Outcome:
        receipt = await session.compaction.run(on_page, label=label)
        if receipt is None:
            return TextResult("There is nothing to archive yet: the conversation fits.")
        done = f"{receipt.text} {receipt.warning}".strip()
        if not receipt.pages:
            return TextResult(done, changes_context=True)
        pages = await asyncio.to_thread(_pages_of, session, receipt.archived)
        text = f"{done}\n\n{pages} The archive calls them “{receipt.archived}”."
        return TextResult(text, changes_context=True)

    return Proposal(
        title="Archive older turns",
        rows=preview_rows(outlook, label),
        activity="archiving",
        pages=outlook.pages,
        run=run,
        confirmed=sure,
    )


def _pages_of(session: Session, label: str) -> str:
    """Pages and tokens of an archive in a sentence."""
    from agent.services.archive import pages_sentence

    vault = session.memory.vault
    row = vault.find_archive(label)
    return pages_sentence(row.pages, row.text_tokens, row.vision_tokens, vault.settings.profile)


async def _list_or_refuse(session: Session, argument: str) -> Outcome:
    """Handles arguments that look like options: `--list`; refuses the command line's others."""
    from agent.services.archive import archives_markdown

    option = argument.split(maxsplit=1)[0]
    if argument == "--list":
        return TextResult(await asyncio.to_thread(archives_markdown, session.memory))
    raise Misuse(
        "Not in the chat",
        f"/archive takes a label or a file, --undo, --list and --yes; {option} is no label.",
        f"On the command line: {PROGRAM} archive {option} …; {PROGRAM} archive --help tells of all options.",
    )


def _file_proposal(session: Session, name: str) -> Proposal:
    if not (path := Path(name).expanduser().absolute()).is_file():
        raise Misuse("No such file", f"There is no file {path}.", "A label is words: /archive Trip planning")
    from context.compaction.preview import modes_for

    async def run(on_page: OnPage) -> Outcome:
        from agent.services.archive import archive_markdown

        return TextResult(await asyncio.to_thread(archive_markdown, session.memory, name, on_page))

    pages = len(modes_for(path.stat().st_size, session.config.archive))  # a byte is about a cell
    return Proposal(title=f"Archive {name}", activity=f"archiving {name}", pages=pages, run=run, confirmed=True)


def _split_yes(rest: str) -> tuple[bool, str]:
    """Whether the arguments begin or end with --yes, and the others."""
    words = rest.split()
    if "--yes" in (words[:1] + words[-1:]):
        return True, rest.removeprefix("--yes").removesuffix("--yes").strip()
    return False, rest


def _is_file_name(name: str) -> bool:
    """Whether it is an existing file, or can only be a file name: `notes/x`, `letter.txt`."""
    if not name:
        return False
    try:
        if Path(name).expanduser().is_file():
            return True
    except (OSError, RuntimeError, ValueError):  # no valid file name
        return False
    return not re.search(r"\s", name) and ("/" in name or "\\" in name or bool(_FILE_NAME.search(name)))


async def _observations(session: Session, rest: str) -> Outcome:
    action, _, argument = rest.partition(" ")
    ref, _, text = argument.strip().partition(" ")
    observations = session.memory.observations
    match action:
        case "":
            return TextResult(observation_table(await asyncio.to_thread(observations.newest, MAX_OBSERVATIONS)))
        case "edit" if ref and text.strip():
            stored = await asyncio.to_thread(observations.correct, ref, clear(text.strip()))
            return TextResult(f"{stored.id} says now: {stored.observation.title}", changes_context=True)
        case "delete" if ref:
            stored = await asyncio.to_thread(observations.delete, ref)
            return TextResult(f"Deleted {stored.id}; what it was made of stays.", changes_context=True)
        case _:
            raise Misuse("Which?", "/observations lists them.", "/observations edit ID TEXT, /observations delete ID")


async def _search(session: Session, text: str) -> Outcome:
    from agent.commands.search_args import search  # loads the options of memory, which the list of commands must not

    return await search(session, text)


COMMANDS = (
    Command(name="remember", summary="Add a note to MEMORY.md.", usage="TEXT", run=_remember),
    Command(
        name="recall",
        summary="Look through memory, and bring a passage back whole.",
        usage="[QUERY|ID|LABEL]",
        keys="In the list: ↑ ↓ choose, Enter shows the passage whole, Esc leaves. In a passage: ↑ ↓ PgUp PgDn Home End "
        "scroll, p shows its page as a picture, o opens that in the system's viewer, i puts the citation into the "
        "prompt, c copies the passage, Esc goes back. In a picture: + and − go closer and back, the arrows move, n and "
        "b turn pages, o opens the viewer.",
        run=_recall,
    ),
    Command(
        name="archive",
        summary="Archive older turns, or a file, as pages; says first what it will do.",
        usage="[LABEL|FILE|--undo]",
        keys="Enter does what is shown, Esc leaves all as it is; while pages are made, Esc cancels and nothing is let "
        "go. `/archive --yes` does not ask; `/archive --list` lists what was archived; `/compact --undo` brings "
        "the turns of the last compaction back into the request, exactly as they were.",
        aliases=("compact",),
        run=_archive,
    ),
    Command(
        name="observations",
        summary="List notes of what tools showed and what was decided; correct or delete one.",
        usage="[edit ID TEXT|delete ID]",
        run=_observations,
    ),
    Command(
        name="search",
        summary="Search everything remembered, as you type.",
        usage="[QUERY]",
        keys="`/search --help` lists the ways to search; `--recent`, `--exact` and the command line's other options "
        "hold here as well. Ctrl+F and F3 open it too. Filters are typed as words: kind:note since:30d "
        "until:2026-03-01 who:Anna in:House type:decision concept:gotcha file:http.py entity:money trust:exact; "
        '"an exact phrase", -without. '
        "In the list: ↑ ↓ choose, Enter goes to the place in the conversation, Ctrl+Y puts the citation into the "
        "prompt, Ctrl+O shows the passage whole, Ctrl+S what its score is made of, Tab goes to the list, where y, o "
        "and s do the same, and Esc leaves.",
        run=_search,
    ),
)
