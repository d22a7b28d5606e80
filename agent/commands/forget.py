"""`/forget`: forgets words, an entry, a note, a file or a conversation, for good."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.commands.command import Command
from agent.commands.results import Cancelled, Outcome, Proposal, SessionSwitched, Suspended
from foundation.errors import Misuse, PalimpsestError
from foundation.terminal_text import visible_line

if TYPE_CHECKING:  # a session loads every room; the list of commands must not
    from agent.session import Session
    from memory.forget.plan import ForgetPlan
    from memory.pages.types import OnPage

MOST_ROWS: Final = 8  # first lines of each kind
KEEP_NOTES: Final = "--keep-notes"
AS_WORDS: Final = "--words"
STEPS: Final = 19  # those of a job, and the look at its end

STOPPED: Final = "Stopped halfway; deleted parts stay deleted."
_QUOTES: Final = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "「": "」"}


async def _forget(session: Session, named: str) -> Outcome:
    from agent.services.forget import plan, refuse_nothing

    given = named.split()
    words = [word for word in given if word not in {"--yes", KEEP_NOTES, AS_WORDS}]
    sure, keeps_notes, named = "--yes" in given, KEEP_NOTES in given, without_quotes(" ".join(words))
    if not named:
        raise Misuse("Nothing given", "/forget needs text, an id or a file.", "/forget the code of the door")
    if AS_WORDS in given:
        what = await asyncio.to_thread(plan, session.memory, words=named)
    else:
        what = await asyncio.to_thread(plan, session.memory, named=named, here=Path.cwd())
    refuse_nothing(what)
    if keeps_notes:
        from memory.forget.plan import keeping_lines

        what = keeping_lines(session.memory, what, what.lines)

    async def run(on_page: OnPage) -> Outcome:
        return await _carry_out(session, what, on_page)

    return Proposal(
        title=f"Forget {visible_line(what.title)}?",
        rows=tuple(plan_rows(what)),
        activity="forgetting",
        pages=STEPS + len(session.config.sync.locations),
        unit="step",
        run=run,
        confirmed=sure,
        must_be_confirmed=True,
        takes_enter=False,
    )


def without_quotes(named: str) -> str:
    """The words within one pair of quotation marks around the whole, as one types them in a shell."""
    opened, inner, closed = named[:1], named[1:-1], named[-1:]
    if len(named) < 3 or _QUOTES.get(opened) != closed or opened in inner or closed in inner:
        return named
    return inner.strip()


async def _carry_out(session: Session, what: ForgetPlan, on_page: OnPage) -> Outcome:
    from agent.services.forget import forget_everywhere
    from memory.sync.renewal import LocationAccess

    done = 0

    def on_step(_: str) -> None:
        nonlocal done
        done += 1
        try:
            on_page(done)
        except Cancelled:
            raise Suspended(STOPPED) from None

    locations = LocationAccess(session.config.sync, session.config.environment)
    try:
        receipt = await asyncio.to_thread(forget_everywhere, session.memory, what, locations, on_step)
    except PalimpsestError:  # part of it is done
        await _show_what_stays(session, what)
        raise
    return SessionSwitched(" ".join(receipt.lines), branch=await _show_what_stays(session, what))


async def _show_what_stays(session: Session, what: ForgetPlan) -> bool:
    """Takes the open conversation anew from the store, or begins another one where it goes; whether it stays."""
    conversation = session.conversation
    stays = conversation is None or conversation.id not in {found.id for found in what.conversations}
    if conversation and stays:
        session.switch_to(await asyncio.to_thread(session.memory.conversations.at, conversation.seq))
    elif conversation:
        session.new("")
    return stays


def plan_rows(what: ForgetPlan) -> list[tuple[str, str]]:
    """Rows of a name and a sentence: what goes, what changes, and what stays."""
    from agent.services.forget_sentences import (
        also_said_sentence,
        changes,
        counted_as,
        file_name_sentence,
        kept_sentence,
        same_id_sentence,
        unnamed_sentence,
    )

    rows = [("read as", file_name_sentence(what))] if what.file_name else list[tuple[str, str]]()
    for entry in what.entries[:MOST_ROWS]:
        rows.append(("goes", f"{entry.time.astimezone():%Y-%m-%d} {entry.by}: {entry.line} ({entry.why})"))
    if (more := what.entry_count - len(what.entries[:MOST_ROWS])) > 0:
        rows.append(("", f"… and {more:,} more entries"))
    for found in what.conversations[:MOST_ROWS]:
        rows.append(("goes", f"{found.kind} “{found.title or found.id}”, {counted_as('entries', found.entries)}"))
    for line in what.lines[:MOST_ROWS]:
        rows.append(("goes", f"{line.file}:{line.number} {visible_line(line.text)}"))
    if (more := len(what.lines) - MOST_ROWS) > 0:
        rows.append(("", f"… and {more:,} more lines of notes"))
    if what.lines:
        rows.append(("", f"/forget … {KEEP_NOTES} keeps the lines of your notes."))
    rows += [("changes", f"renamed: {visible_line(name)} to {new}") for name, new in what.renamed[:5]]
    for entry in what.derived[:MOST_ROWS]:
        rows.append(("changes", f"{entry.time.astimezone():%Y-%m-%d} {entry.by}: {entry.line} ({entry.why})"))
    if what.copies:
        rows.append(("changes", f"only in copies: {', '.join(what.copies)}"))
    also = "; ".join([*changes(what), "index, versions, drafts, checkpoints, caches"])
    rows.append(("changes", also))
    if stays := also_said_sentence(what.also_in):
        rows.append(("stays", stays.removeprefix("Stays: ")))
    if what.kept:
        rows.append(("stays", kept_sentence(what)))
    if what.unnamed:
        rows.append(("stays", unnamed_sentence(what.unnamed)))
    if what.same_id:
        rows.append(("stays", same_id_sentence(what)))
    rows += [("not searched", sentence) for sentence in what.unread]
    rows.append(
        ("no undo", "It is deleted from every file here, and the result is verified. Backups still contain it.")
    )
    return rows


COMMANDS = (
    Command(
        name="forget",
        summary="Delete text, an entry, a note or a file for good.",
        usage="WORDS|ID|FILE [--words] [--keep-notes] [--yes]",
        run=_forget,
    ),
)
