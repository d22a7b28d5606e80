"""`palimpsest forget`."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import Invocation, current
from agent.services.forget import (
    ForgetReceipt,
    NotForgottenYet,
    Resumed,
    finish_pending,
    forget_everywhere,
    line_numbers,
    open_jobs,
    plan,
    refuse_nothing,
)
from agent.services.forget_receipt import begun_sentence, last_sentence, left_over, receipt_lines
from agent.services.forget_sentences import plan_lines
from foundation.clock import from_ms
from foundation.errors import Misuse, PalimpsestError
from foundation.program import PROGRAM
from foundation.text.dates.filter_dates import parse_moment

if TYPE_CHECKING:  # the store is loaded when it is opened
    from memory.forget.plan import ForgetPlan
    from memory.forgotten.journal import ForgetJob
    from memory.memory import Memory
    from memory.sync.renewal import UnreachedLocation


@click.command(cls=CliCommand)
@click.argument("name", metavar="[QUERY|ID|FILE]", required=False)
@click.option("--words", metavar="QUERY", help="Forget this text, even if a file or an id has the same name.")
@click.option("--conversation", metavar="ID", help="Forget this whole conversation.")
@click.option("--before", metavar="DAY", help="Forget everything from before this day: 2026-03-01, 90d, last March.")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted; change nothing.")
@click.option("--yes", is_flag=True, help="Skip the confirmation.")
def command(
    name: str | None, *, words: str | None, conversation: str | None, before: str | None, dry_run: bool, yes: bool
) -> None:
    """Delete for good everything that contains QUERY, or the given ID or FILE, with all derived data.

    QUERY matches in any case, width and accents, and in traditional or simplified characters. ID is the id of an
    entry, note, page, archive or conversation; use --conversation for an imported conversation, whose id may be a
    common word. FILE is a note or a file added to knowledge: its listed name, its path, or the end of either. Files and
    their pages are deleted as a whole.

    The command shows what would be deleted and asks. It then deletes it from the database, index, packs, notes and
    their versions, readable copies, checkpoints, drafts, prompt history, caches and logs, and searches every file of
    the workspace for remains. Later imports skip it. Existing backups still contain it.

    Without arguments, continues an interrupted deletion, or shows the receipt of the last one.

    Exit status: 0 forgotten; 1 not everything can be deleted, or nothing matches; 75 not finished: something is in use
    or unreachable, such as a sync location.
    """
    invocation = current()
    is_named = _is_named(
        {"QUERY, ID or FILE": name, "--words": words, "--conversation": conversation, "--before": before}
    )
    with (
        _explaining_a_full_disk(invocation),
        invocation.memory(for_writing=not dry_run, finishing=is_named) as memory,
    ):
        if not is_named:
            _go_on(invocation, memory, dry_run=dry_run)
            return
        moment = parse_moment(before, datetime.now(UTC)) if before else None
        planned = plan(
            memory,
            named=name or "",
            words=words or "",
            conversation=conversation or "",
            before=moment,
            here=invocation.here,
        )
        refuse_nothing(planned)
        if not invocation.json:
            for line in plan_lines(planned):
                output.line(line)
        if dry_run:
            if invocation.json:
                output.json_object({**plan_object(planned), "receipt": None, "resumed": []})
            return
        if not yes:
            planned = _confirmed(memory, planned)
        _finish(invocation, planned, forget_everywhere(memory, planned, invocation.location_access, _report))


def _is_named(given: Mapping[str, str | None]) -> bool:
    """Whether anything is named. Raises Misuse for an empty name: an unset variable of a shell must not look like
    success."""
    for name, value in given.items():
        if value is not None and not value.strip():
            raise Misuse(
                "Nothing given", f"{name} is empty.", f"`{PROGRAM} forget` alone continues an interrupted deletion."
            )
    return any(value is not None for value in given.values())


@contextmanager
def _explaining_a_full_disk(invocation: Invocation) -> Generator[None]:
    """A StoreFull before anything is written down says that forgetting needs room, and that all is as it was."""
    from memory.errors import StoreFull

    try:
        yield
    except StoreFull as error:
        raise StoreFull(
            "Nothing was forgotten",
            f"The disk of {invocation.workspace.root} is full. Forgetting needs some free space to record "
            "what to delete and to rewrite files without it.",
            "Free some space on that disk, then run it again.",
        ) from error


def _finish(invocation: Invocation, planned: ForgetPlan, receipt: ForgetReceipt) -> None:
    """Prints the receipt. Raises NotForgottenYet where a location of sync does not answer."""
    if not invocation.json:
        for line in receipt.lines:
            output.line(line)
    if receipt.left:
        raise _not_everywhere(receipt.left)
    if invocation.json:
        shown = receipt_object(receipt.job, receipt.lines)
        output.json_object({**plan_object(planned), "receipt": shown, "resumed": []})


def _not_everywhere(left: Sequence[UnreachedLocation]) -> NotForgottenYet:
    from memory.sync.renewal import TRIED_AGAIN

    places = ", ".join(map(str, left))
    return NotForgottenYet(
        "Not forgotten yet", f"It could not be deleted from {places}.", f"It was deleted here. {TRIED_AGAIN}"
    )


def _go_on(invocation: Invocation, memory: Memory, *, dry_run: bool) -> None:
    """Finishes what was begun, and prints its receipts; without any it prints that of the last forgetting.

    With `dry_run` it goes on with nothing. Raises NotForgottenYet, NotAllForgotten as the forgetting itself.
    """
    from memory.forget.plan import NO_PLAN
    from memory.forgotten.journal import ForgetJournal
    from memory.sync.renewal import removed_sentence, renew_locations, take_removed_locations

    resumed = Resumed() if dry_run else finish_pending(memory, on_step=_report)
    removed = () if dry_run else take_removed_locations(memory, invocation.location_access.settings)
    unreached = () if dry_run else renew_locations(memory, invocation.location_access)
    left = open_jobs(memory)
    last = None if resumed.over or left else ForgetJournal(memory.workspace.forgotten).last_finished()
    shown = [*resumed.over, *([last] if last else [])]
    known = invocation.location_access.settings.locations
    receipts = {job.id: receipt_lines(memory, job, unreached, known) for job in shown}
    if not invocation.json:
        if removed:
            output.line(removed_sentence(removed))
        if not (resumed.over or left or unreached or removed):
            output.line(f"No deletion is in progress. `{PROGRAM} forget --help` shows what can be forgotten.")
        for job in shown:
            output.line(last_sentence(job) if job is last else begun_sentence(job))
            for line in receipts[job.id]:
                output.line(line)
    if ended := left_over(resumed.over):
        raise ended
    if left:
        raise NotForgottenYet(
            "Not forgotten yet", " ".join([*left, *_reasons(resumed.stopped)]), f"`{PROGRAM} forget` tries again."
        )
    if unreached:
        raise _not_everywhere(unreached)
    if invocation.json:
        objects = [receipt_object(job, receipts[job.id]) for job in shown]
        receipt = objects[-1] if objects else None
        output.json_object({**plan_object(NO_PLAN), "receipt": receipt, "resumed": [] if last else objects})


def _reasons(stopped: Iterable[PalimpsestError | OSError]) -> list[str]:
    reasons = (error.message if isinstance(error, PalimpsestError) else str(error) for error in stopped)
    return list(dict.fromkeys(reasons))


def _confirmed(memory: Memory, planned: ForgetPlan) -> ForgetPlan:
    """Asks which lines of notes go, and whether all of it does. Raises Misuse without a terminal, click.Abort."""
    from memory.forget.plan import keeping_lines

    if not sys.stdin.isatty():
        raise Misuse("Not confirmed", f"Forgetting {planned.title} must be confirmed.", "Add --yes.")
    if planned.lines:
        answer = click.prompt(
            "Which lines of your notes should be deleted? Numbers, all or none", default="all", err=True
        )
        numbers = line_numbers(str(answer), len(planned.lines))
        kept = [line for number, line in enumerate(planned.lines, 1) if number not in numbers]
        planned = keeping_lines(memory, planned, kept)
    output.confirm(f"Delete {planned.title} for good?")
    return planned


def _report(step: str) -> None:
    if sys.stderr.isatty():
        output.narrate(f"… {step}")


def plan_object(planned: ForgetPlan) -> dict[str, Any]:
    """The plan as JSON."""
    return {
        "what": planned.title,
        "entries": list(planned.entries),
        "entry_count": planned.entry_count,
        "derived": list(planned.derived),
        "derived_count": planned.derived_count,
        "conversations": list(planned.conversations),
        "lines": list(planned.lines),
        "pages": planned.pages,
        "names": planned.names,
        "also_said": list(planned.also_said),
        "also_in": list(planned.also_in),
        "kept": list(planned.kept),
        "copies": list(planned.copies),
        "file_name": planned.file_name,
        "unnamed": [{"name": file.name, "ref": file.ref} for file in planned.unnamed],
        "unread": list(planned.unread),
    }


def receipt_object(job: ForgetJob, lines: Iterable[str]) -> dict[str, Any]:
    """The receipt as JSON. `lines` are what a person reads of it."""
    receipt = job.receipt
    assert receipt is not None
    return {
        "id": job.id,
        "begun": from_ms(job.begun_ms),
        "finished": from_ms(receipt.finished_ms) if receipt.finished_ms else None,
        "counts": dict(receipt.counts),
        "files": receipt.places,
        "bytes": receipt.bytes,
        "found": list(receipt.found),
        "left": list(receipt.left),
        "sentences": list(lines),
    }
