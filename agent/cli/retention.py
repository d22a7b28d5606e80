"""`palimpsest retention`."""

from __future__ import annotations

import sys
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
    from memory.upkeep.retention import PlannedConversation, RetentionPlan


@click.command(cls=CliCommand)
@click.option("--dry-run", is_flag=True, help="Say what each rule would do, and do nothing.")
@click.option("--yes", is_flag=True, help="Delete without asking where a rule says so.")
@click.option("--undo", "undo_", is_flag=True, help="Take the newest archiving by a rule or from /clean back.")
@click.option("--shrink", is_flag=True, help="Give the room of deleted rows back to the disk, however long it takes.")
def command(*, dry_run: bool, yes: bool, undo_: bool, shrink: bool) -> None:
    """Do what the rules of retention say: archive or delete conversations that nobody touched for long.

    Rules are settings: retention.archive_days and retention.delete_days for all conversations, retention.rules for some
    of them, by kind, label and pattern of the title; the first that matches holds. Without rules nothing is done.

    Touched means written to, or recalled into another conversation. Conversations that are pinned, bookmarked,
    important (retention.keep_important) or in use stay. Archived text stays searchable and --undo brings it back;
    deleting is for good, and asks first.

    --shrink does none of this: it writes the database anew without the room of deleted rows. A large one takes minutes,
    no other window may be open, and Ctrl+C may end it: nothing is lost.
    """
    from agent.services.retention import RetentionResult, carry_out
    from memory.upkeep import retention

    invocation = current()
    if (undo_ or shrink) and dry_run + yes + undo_ + shrink > 1:
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
        if not dry_run:
            delete = _may_delete(planned, yes=yes)
            memory.recover()
            result = carry_out(memory, planned, invocation.location_access, delete=delete, on_done=progress)
    _print_result(invocation, planned, result, dry_run=dry_run)


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
