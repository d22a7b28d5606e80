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
@click.option("--dry-run", is_flag=True, help="Show what each rule would do; change nothing.")
@click.option("--yes", is_flag=True, help="Delete without asking where a rule says so.")
@click.option(
    "--today",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="Confirm today's date (2026-03-14) if the clock is questioned but right.",
)
@click.option("--undo", "undo_", is_flag=True, help="Undo the latest archiving by a rule or /clean.")
@click.option("--shrink", is_flag=True, help="Rewrite the database to free the space of deleted rows.")
def command(*, dry_run: bool, yes: bool, today: datetime | None, undo_: bool, shrink: bool) -> None:
    """Apply the retention rules: archive or delete conversations without recent activity.

    Rules are settings: retention.archive_days and retention.delete_days for all conversations, retention.rules by kind,
    label and title pattern; the first match applies. Without rules nothing is done.

    Activity means writing to a conversation or recalling it in another one. Conversations that are pinned, bookmarked,
    important (retention.keep_important) or in use are kept. Archived text stays searchable, and --undo restores it;
    deleting is permanent and asks first. If nothing was stored in the 30 days before today, the clock may be wrong, and
    rules that delete do not run until --today confirms the date.

    --shrink applies no rules: it rewrites the database without the space of deleted rows. A large database takes
    minutes. Close other windows first. Ctrl+C stops it safely.
    """
    from agent.services.retention import RetentionResult, carry_out
    from memory.upkeep import retention

    invocation = current()
    if (undo_ or shrink) and dry_run + yes + (today is not None) + undo_ + shrink > 1:
        alone = "--undo" if undo_ else "--shrink"
        raise Misuse(
            "Two things at once", f"{alone} cannot be combined with other options.", own_command("retention", alone)
        )
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
        message = f"The system clock says {date}, but --today says {today:%Y-%m-%d}. Nothing was done."
        raise ClockInDoubt("The dates differ", message, "Set the clock, or correct the date.")
    deletes, known = planned.doing("delete"), last_stored_earlier(memory, planned.time)
    if not deletes or known is None or is_plausible(known, planned.time):
        return None
    return ClockInDoubt(
        "The clock may be ahead",
        f"The system clock says {date}, but the last entry before today in {memory.workspace.root} is from "
        f"{known.astimezone():%Y-%m-%d}, {(planned.time - known).days:,} days earlier. The rules would "
        f"delete {counted(len(deletes), 'conversation')} for good, so nothing was done.",
        "Correct the clock if it is wrong. If the date is right, confirm it with "
        f"`{own_command('retention', '--today', date)}`"
        ", or store something today and run it again tomorrow.",
    )


def _shrink(invocation: Invocation) -> None:
    from memory.upkeep.disk import shrink_database_alone

    workspace = invocation.prepare(writable=True)
    output.narrate(f"Rewriting {workspace.database}. Ctrl+C stops it safely.")
    before, after = shrink_database_alone(workspace)
    if invocation.json:
        output.json_object({"bytes_before": before, "bytes_after": after})
    elif after < before:
        output.line(f"The database shrank from {format_size(before)} to {format_size(after)}.")
    else:
        output.line(f"The database takes {format_size(before)}; there is no free space in it.")


def _may_delete(planned: RetentionPlan, *, yes: bool) -> bool:
    """Whether conversations are deleted: a person says so. Raises Misuse where nobody can be asked, click.Abort for a
    no."""
    deletes = planned.doing("delete")
    if not deletes or yes:
        return bool(deletes)
    what = counted(len(deletes), "conversation")
    if not sys.stdin.isatty():
        raise Misuse("Not confirmed", f"The rules would delete {what}; nothing was done.", "Add --yes or --dry-run.")
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
    does = f"kept: {each.stays}" if each.stays else f"{each.action}"
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
            "No rule matches a conversation."
            if configured
            else "No rules are set. See the settings `retention.archive_days` and `retention.rules`."
        )
    elif dry_run:
        output.narrate("Dry run: nothing was changed.")
