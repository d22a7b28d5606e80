"""/clean: proposes to archive what nobody touched for a month, and takes the answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import OpenNamedScreen, Outcome, Proposal, TextResult
from foundation.errors import Misuse
from foundation.figures import counted
from foundation.sizes import format_size
from foundation.terminal_text import visible

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from memory.pages.types import OnPage
    from memory.upkeep.proposal import CleaningProposal
    from memory.upkeep.retention import PlannedConversation

_SHOWN: Final = 20  # conversations that the text lists
_USAGE: Final = "/clean, /clean --yes, --later, --undo, --never ID or --again ID"


async def _clean(session: Session, rest: str) -> Outcome:
    from memory.upkeep.proposal import keep, not_now

    option, _, ref = rest.partition(" ")
    match option, ref.strip():
        case "", "":
            return OpenNamedScreen("clean", "", lambda: _listed(session))
        case "--yes", "":
            return await _consented(session)
        case "--later", "":
            until = await asyncio.to_thread(not_now, session.memory, session.clock.now())
            return TextResult(f"No more reminders before {until.astimezone():%Y-%m-%d}. `/clean` works at any time.")
        case "--undo", "":
            return await _undone(session)
        case (("--never" | "--again"), wanted) if wanted:
            always = option == "--never"
            sentence = await asyncio.to_thread(keep, session.memory, wanted, always=always)
            return TextResult(visible(sentence))
        case _:
            raise Misuse("Not understood", f"/clean has no option “{visible(rest)}”.", f"Options: {_USAGE}.")


async def _proposed(session: Session) -> CleaningProposal:
    from memory.upkeep.proposal import proposal

    return await asyncio.to_thread(proposal, session.memory, session.config.retention, session.clock.now())


async def _listed(session: Session) -> Outcome:
    """The proposal as a list."""
    proposed = await _proposed(session)
    if not proposed.leaving and not proposed.staying:
        return TextResult(f"No conversation has been inactive for {proposed.days:,} days.")
    what = f"{counted(len(proposed.leaving), 'conversation')} with {format_size(proposed.bytes)} of text"
    head = (
        f"{what} can be archived: inactive for {proposed.days:,} days. They stay searchable, and `/clean "
        "--undo` restores them."
    )
    rows = [
        f"- {each.touched.astimezone():%Y-%m-%d}, {format_size(each.bytes)}: {_name(each)}"
        for each in proposed.leaving[:_SHOWN]
    ]
    more = [f"- and {len(proposed.leaving) - _SHOWN:,} more"] if len(proposed.leaving) > _SHOWN else []
    stay = [f"- kept: {_name(each)}: {each.stays}" for each in proposed.staying[:_SHOWN]]
    answers = "`/clean --yes` archives them, `--later` reminds you in a month, `--never ID` excludes one permanently."
    return TextResult("\n".join([head, "", *rows, *more, *stay, "", answers]))


def _name(each: PlannedConversation) -> str:
    return f"{visible(each.title) or 'untitled'} (`{each.conversation}`)"


async def _consented(session: Session) -> Outcome:
    from memory.upkeep.proposal import clean
    from memory.upkeep.retention import receipt

    proposed = await _proposed(session)
    if not proposed.leaving:
        return TextResult("There is nothing to archive.")

    async def run(on_page: OnPage) -> Outcome:
        done = await asyncio.to_thread(clean, session.memory, proposed, on_page)
        return TextResult(receipt(done) if done else "Nothing left to archive.")

    return Proposal(
        title="Archive inactive conversations",
        activity="archiving inactive conversations",
        pages=len(proposed.leaving),
        unit="conversation",
        run=run,
        confirmed=True,
    )


async def _undone(session: Session) -> Outcome:
    from memory.upkeep.retention import NothingToTakeBack, undo, undoable, undone_sentence

    newest = await asyncio.to_thread(undoable, session.memory)
    if newest is None:
        raise NothingToTakeBack

    async def run(on_page: OnPage) -> Outcome:
        return TextResult(undone_sentence(await asyncio.to_thread(undo, session.memory, on_page)))

    return Proposal(
        title="Undo the archiving",
        activity="restoring texts",
        pages=newest.entries,
        unit="text",
        run=run,
        confirmed=True,
    )


COMMANDS = (
    Command(
        name="clean",
        summary="Show conversations inactive for a month, and archive them if you confirm.",
        usage="[--yes|--later|--undo|--never ID]",
        keys="↑ ↓ choose, a archives all listed, n excludes or includes the selected one, l snoozes for a "
        "month, Enter opens a conversation, Esc cancels. `/clean --undo` undoes an archiving.",
        run=_clean,
    ),
)
