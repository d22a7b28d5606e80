"""Slash commands without a screen: runs a command and prints its result."""

from typing import Any

from agent.cli import output
from agent.commands import registry
from agent.commands.results import (
    Choices,
    CommandFailed,
    Copy,
    OpenNamedScreen,
    OpenPicker,
    OpenSearch,
    Outcome,
    Proposal,
    Quit,
    SendMessage,
    SessionSwitched,
    ShowEntry,
    TextResult,
)
from agent.session import Session
from foundation.errors import Misuse, PalimpsestError


async def run_command(session: Session, line: str, form: str) -> int | SendMessage:
    """Runs a command and prints its result; gives the exit status, or the message that it sends."""
    outcome = await registry.run(session, line)
    if isinstance(outcome, Proposal) and outcome.must_be_confirmed and not outcome.confirmed:
        outcome = CommandFailed(Misuse("Not confirmed", f"{outcome.title} It cannot be confirmed here.", "Add --yes."))
    if isinstance(outcome, Proposal):  # typed explicitly, and nobody can be asked
        with output.Progress(f"{outcome.unit}s") as progress:
            outcome = await registry.carry_out(outcome, progress)
    outcome = await without_screen(session, outcome)
    if isinstance(outcome, SendMessage):
        return outcome
    if isinstance(outcome, SessionSwitched) and outcome.prompt:  # no prompt keeps the message for the next run
        await session.branch.move()
    if isinstance(outcome, CommandFailed):
        output.error(outcome.error, as_data=form != "text")
        return outcome.error.exit_status
    if form == "text":
        for text_line in outcome_lines(outcome):
            output.line(text_line)
    else:
        output.json_object({"type": "command", "command": line.split(maxsplit=1)[0], **_object(outcome)})
    return 1 if isinstance(outcome, TextResult) and outcome.failed else 0


async def without_screen(session: Session, outcome: Outcome) -> Outcome:
    """The outcome; for one that opens a screen, what it prints in its place."""
    return await _printed(outcome) if isinstance(outcome, OpenSearch | OpenPicker | OpenNamedScreen) else outcome


async def _printed(opened: OpenSearch | OpenPicker | OpenNamedScreen) -> Outcome:
    try:
        return await opened.printed()
    except PalimpsestError as error:
        return CommandFailed(error)


def outcome_lines(outcome: Outcome) -> list[str]:
    """The texts that an outcome prints."""
    match outcome:
        case TextResult(markdown=text) | Copy(text=text):
            return [text]
        case SessionSwitched(notice=notice):
            return [notice] if notice else []
        case Choices(title=title, items=items, command=command, notes=notes):
            rows = [
                f"{command} {item.id}  {item.label}" + (f"  ({item.detail})" if item.detail else "") for item in items
            ]
            return [title, *rows, *notes]
        case _:
            return []


def _object(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case TextResult(markdown=text, counts=counts) if counts is not None:
            return {"text": text, "counts": dict(counts)}
        case TextResult(markdown=text) | Copy(text=text):
            return {"text": text}
        case Choices(title=title, items=items):
            choices = [{"id": item.id, "label": item.label, "detail": item.detail} for item in items]
            return {"text": title, "choices": choices}
        case SessionSwitched(notice=notice):
            return {"text": notice}
        case ShowEntry(notice=notice):
            return {"text": notice}
        case Quit() | SendMessage() | Proposal() | OpenSearch() | OpenPicker() | OpenNamedScreen() | CommandFailed():
            return {"text": ""}
