"""`palimpsest retention`."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import TYPE_CHECKING

import click

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import Invocation, current
from foundation.clock import SystemClock, iso
from foundation.errors import Misuse, TemporaryFailure
from foundation.figures import counted
from foundation.program import own_command
from foundation.sizes import format_size

if TYPE_CHECKING:  # the help of a command must not load the store
    from agent.services.retention import RetentionResult
    from memory.memory import Memory
    from memory.upkeep.retention import PlannedConversation, RetentionPlan


class ClockInDoubt(Misuse):
    """The clock is far past everything that is stored: nothing is deleted by age until a person confirms the date."""

    code = "clock_in_doubt"


@click.command(cls=CliCommand)
@click.option("--dry-run", is_flag=True, help="Say what each rule would do, and do nothing.")
@click.option("--yes", is_flag=True, help="Delete without asking where a rule says so.")
@click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Today's date (2026-03-14), where the clock is doubted and is right.",
)
@click.option("--undo", "undo_", is_flag=True, help="Take the newest archiving by a rule or from /clean back.")
@click.option("--shrink", is_flag=True, help="Give the room of deleted rows back to the disk, however long it takes.")
def command(*, dry_run: bool, yes: bool, today: datetime | None, undo_: bool, shrink: bool) -> None:
    """Do what the rules of retention say: archive or delete conversations that nobody touched for long.

    Rules are settings: retention.archive_days and retention.delete_days for all conversations, retention.rules for some
    of them, by kind, label and pattern of the title; the first that matches holds. Without rules nothing is done.

    Touched means written to, or recalled into another conversation. Conversations that are pinned, bookmarked,
    important (retention.keep_important) or in use stay. Archived text stays searchable and --undo brings it back;
    deleting is for good, and asks first. Where the clock is more than 30 days past what was stored last before today,
    nothing is done as long as a rule would delete: it may be ahead. --today says that the date is right; words that are
    stored under it prove it a day later.

    --shrink does none of this: it writes the database anew without the room of deleted rows. A large one takes minutes,
    no other window may be open, and Ctrl+C may end it: nothing is lost.
    """
    from agent.services.retention import RetentionResult, carry_out
    from memory.upkeep import retention

    invocation = current()
    if (undo_ or shrink) and dry_run + yes + (today is not None) + undo_ + shrink > 1:
        alone = "--undo" if undo_ else "--shrink"
        raise Misuse("Two things at once", f"{alone} goes alone.", own_command("retention", alone))
    if shrink:
        _shrink(invocation)
        return
    if undo_:
        with invocation.memory(for_writing=True) as memory:
            undone = retention.undo(memory)
        if invocation.json:
            output.json_object({"undone": retention.run_object(undone)})
        else:
            output.line(retention.undone_sentence(undone))
        return
    with invocation.memory(for_writing=not dry_run) as memory, output.Progress("conversations") as progress:
        planned = retention.plan(memory, invocation.loaded_config.config.retention, SystemClock().now())
        if not invocation.json:
            _print_plan(planned)
        result = RetentionResult()
        doubt = _doubt_of_clock(memory, planned, today)
        if dry_run and doubt is not None:
            output.narrate(f"{doubt.message} {doubt.hint}")
        if not dry_run:
            if doubt is not None:
                raise doubt
            delete = _may_delete(planned, yes=yes)
            memory.recover()
            result = carry_out(memory, planned, invocation.location_access, delete=delete, on_done=progress)
    _print_result(invocation, planned, result, dry_run=dry_run)


def _doubt_of_clock(memory: Memory, planned: RetentionPlan, today: datetime | None) -> ClockInDoubt | None:
    """Why nothing is deleted by this clock; None where it is plausible, `today` is its date, or nothing would be
    deleted. Raises ClockInDoubt where `today` is another date than the clock's."""
    from memory.upkeep.clock_doubt import is_plausible, last_stored_earlier

    date = f"{planned.time.astimezone():%Y-%m-%d}"
    if today is not None:
        if f"{today:%Y-%m-%d}" == date:
            return None
        message = f"The clock of this machine says {date}, and --today {today:%Y-%m-%d}. Nothing was done."
        raise ClockInDoubt("The dates differ", message, "Set the clock, or correct the date.")
    deletes, known = planned.doing("delete"), last_stored_earlier(memory, planned.time)
    if not deletes or known is None or is_plausible(known, planned.time):
        return None
    return ClockInDoubt(
        "The clock may be ahead",
        f"The clock of this machine says {date}, and what was last stored before today in {memory.workspace.root} is "
        f"of {known.astimezone():%Y-%m-%d}, {(planned.time - known).days:,} days earlier. By that clock rules would "
        f"delete {counted(len(deletes), 'conversation')} for good; nothing was done.",
        f"Set the clock if it is wrong. If the date is right, say so with `{own_command('retention', '--today', date)}`"
        ", or store something today and run it again after a day.",
    )


def _shrink(invocation: Invocation) -> None:
    from memory.upkeep.disk import shrink_database_alone

    workspace = invocation.prepare(writable=True)
    output.narrate(f"{workspace.database} is written anew. Ctrl+C may end it: nothing is lost.")
    before, after = shrink_database_alone(workspace)
    if invocation.json:
        output.json_object({"bytes_before": before, "bytes_after": after})
    elif after < before:
        output.line(f"The database took {format_size(before)} and takes {format_size(after)} now.")
    else:
        output.line(f"The database takes {format_size(before)}; nothing of it is free.")


def _may_delete(planned: RetentionPlan, *, yes: bool) -> bool:
    """Whether conversations are deleted: a person says so. Raises Misuse where nobody can be asked, click.Abort for a
    no."""
    deletes = planned.doing("delete")
    if not deletes or yes:
        return bool(deletes)
    what = counted(len(deletes), "conversation")
    if not sys.stdin.isatty():
        raise Misuse("Not confirmed", f"Rules delete {what}; nothing was done.", "Say it with --yes, or --dry-run.")
    output.confirm(f"Delete {what} for good?")
    return True


def _print_plan(planned: RetentionPlan) -> None:
    rules = [
        (
            str(rule.rule) if rule.rule else "–",
            _figure(rule.archives, rule.archived_bytes),
            _figure(rule.deletes, rule.deleted_bytes),
            f"{rule.stays:,}" if rule.stays else "",
            rule.sentence,
        )
        for rule in planned.rules
    ]
    output.table(rules, ("NO", "ARCHIVES", "DELETES", "STAY", "RULE"))
    shown = [each for each in planned.conversations if each.action != "keep" or each.stays]
    if shown:
        output.line()
        output.table(map(_row, shown), ("LAST TOUCHED", "TEXT", "RULE", "", "CONVERSATION"))


def _figure(count: int, size: int) -> str:
    return f"{count:,}  {format_size(size)}" if count else ""


def _row(each: PlannedConversation) -> tuple[str, ...]:
    does = f"stays: {each.stays}" if each.stays else f"{each.action}"
    rule = str(each.rule) if each.rule else "–"
    return iso(each.touched)[:10], format_size(each.bytes), rule, does, each.title or each.conversation


def _print_result(invocation: Invocation, planned: RetentionPlan, result: RetentionResult, *, dry_run: bool) -> None:
    from memory.upkeep.retention import receipt, run_object

    for sentence in result.sentences:
        output.narrate(sentence)
    if result.is_pending:
        invocation.status = TemporaryFailure.exit_status
    if invocation.json:
        output.json_object(
            {
                "dry_run": dry_run,
                "time": planned.time,
                "rules": planned.rules,
                "conversations": planned.conversations,
                "archived": run_object(result.archived) if result.archived else None,
                "deleted": result.deleted,
            }
        )
        return
    acts = planned.doing("archive") or planned.doing("delete")
    if result.archived is not None:
        output.narrate(receipt(result.archived))
    if result.deleted:
        output.narrate(f"{counted(len(result.deleted), 'conversation')} deleted.")
    if not acts:
        configured = any(
            rule.archives or rule.deletes or not rule.sentence.endswith(": kept") for rule in planned.rules
        )
        output.narrate(
            "No rule has anything to do."
            if configured
            else "No rule archives or deletes anything: `retention.archive_days` and `retention.rules` are settings."
        )
    elif dry_run:
        output.narrate("Nothing was done: this was a dry run.")
