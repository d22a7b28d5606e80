"""`palimpsest check`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from msgspec import structs

from agent.cli import output
from agent.cli.group import CliCommand
from agent.cli.invocation import Invocation, current
from foundation.program import PROGRAM

if TYPE_CHECKING:  # the help of a command must not load the store
    from agent.checkpoints.check import CheckpointProblem
    from foundation.paths import Workspace
    from memory.check import CheckReport
    from memory.records import IntegrityProblem


@click.command(cls=CliCommand)
@click.option("--repair", is_flag=True, help="Repair what can be repaired; damaged files are copied first.")
def command(*, repair: bool) -> None:
    """Check everything stored: the database, every page and file version against its hash, the checkpoint journal, and
    the records that keep forgotten text from being imported again.

    With --repair, damaged data is restored from intact copies; a lost or damaged database is rebuilt from the packs.
    Damaged files are moved to .palimpsest/damaged/DATE. Data that cannot be repaired is listed. Close other windows of
    Palimpsest first.

    File versions and checkpoints that cannot be repaired are listed and recorded as lost. Later checks count them in
    one line and do not fail because of them. If their data reappears, they are valid again.

    An emptied or deleted checkpoint journal is reported, and so are deleted versions that a tool result refers to. If
    the whole checkpoint folder is missing, that cannot be detected.

    Readable copies in conversations/ that are missing or were edited are reported, but are not a failure. --repair
    writes them again and saves an edited copy as a version.

    Conversations missing from the database are restored from their files in conversations/, as far as possible.

    Exit 1 if problems remain or data was lost. Without --repair only the date of the check is recorded.
    """
    from agent.checkpoints.check import find_problems, record_lost, set_aside_unreadable
    from agent.checkpoints.checkpoints import Checkpoints
    from foundation.clock import SystemClock, to_ms
    from memory.archive.repair.quarantine import Quarantine
    from memory.check import check, check_and_repair

    invocation = current()
    workspace, settings = invocation.prepare(writable=repair), invocation.loaded_config.config.archive
    if not repair:
        invocation.report_trust(workspace)
    report = check_and_repair(workspace, datetime.now(UTC), settings) if repair else check(workspace, settings)
    if report.notice:
        output.narrate(report.notice)
    if repair:
        kept = report.kept_at or Quarantine(workspace.damaged, datetime.now(UTC)).folder
        checkpoints = Checkpoints(workspace.checkpoints, SystemClock())
        if lost := set_aside_unreadable(checkpoints, kept):
            report = structs.replace(report, lost=(*report.lost, lost), kept_at=kept)
        found = find_problems(workspace.checkpoints)
        new = [f"{one.where}: {one.message}" for one in record_lost(checkpoints, to_ms(datetime.now(UTC)))]
        report = structs.replace(report, lost=(*report.lost, *new))
    else:
        found = find_problems(workspace.checkpoints)
    report = _with_checkpoints(report, found, is_recorded=repair)
    _record(invocation, workspace, report.problems)
    if invocation.json:
        output.json_object(report.as_json())
    else:
        _print_report(report, repair=repair)
    invocation.status = 1 if report.problems or report.lost else 0


def _with_checkpoints(
    report: CheckReport, found: Sequence[CheckpointProblem], *, is_recorded: bool = False
) -> CheckReport:
    """The report with what was found of the checkpoints. `is_recorded`: damaged versions are among the lost already."""
    from memory.check import LostVersion

    known = [
        LostVersion(f"{one.problem.where}: {one.problem.message}", one.lost_since_ms, of_checkpoint=True)
        for one in found
        if one.lost_since_ms is not None
    ]
    left = [one for one in found if one.lost_since_ms is None and not (is_recorded and one.damage)]
    return structs.replace(
        report,
        problems=(*report.problems, *(one.problem for one in left)),
        known_lost=(*report.known_lost, *known),
    )


def _print_report(report: CheckReport, *, repair: bool) -> None:
    for sentence in report.mended:
        output.line(f"repaired: {sentence}")
    for sentence in report.lost:
        output.line(f"lost: {sentence}")
    for problem in report.problems:
        if any(problem.where in sentence for sentence in report.lost):
            continue  # already printed
        output.line(f"{problem.what} {problem.where}: {problem.message}")
    if report.kept_at:
        output.narrate(f"Damaged files were moved to {report.kept_at}.")
    for note in report.notes:
        output.narrate(note)
    if report.known_lost_sentence:
        output.narrate(f"{report.known_lost_sentence} `{PROGRAM} memory log` lists them.")
    if report.lost_checkpoints_sentence:
        output.narrate(report.lost_checkpoints_sentence)
    if not report.problems and not report.lost:
        all_ = "The rest" if report.known_lost else "All"
        output.narrate(f"{all_} is intact; pages checked: {report.pages:,}.")
    elif not repair:
        output.narrate(f"`{PROGRAM} check --repair` repairs what can be repaired and keeps a copy of what it changes.")


def _record(invocation: Invocation, workspace: Workspace, problems: Sequence[IntegrityProblem]) -> None:
    """Notes the check for /status and the sampled checks, where the workspace is the person's own."""
    from foundation.clock import SystemClock, to_ms
    from foundation.files import LockTimeout
    from foundation.workspace_trust import trust_store
    from memory.access import WorkspaceAccess
    from memory.upkeep.integrity import record_full_check
    from memory.versions.store import VersionStore

    access = WorkspaceAccess.of(workspace, trust_store(invocation.environment))
    access.close()
    if not access.workspace.is_read_only:
        with suppress(OSError, LockTimeout):  # a disk that cannot be written to is checked all the same
            VersionStore(workspace.versions, SystemClock()).drop_whole()
            record_full_check(workspace, problems, to_ms(datetime.now(UTC)))
