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
@click.option("--repair", is_flag=True, help="Mend what can be mended; a copy of it is kept first.")
def command(*, repair: bool) -> None:
    """Check what is stored: the database whole, every page and every version of a file read back and compared with its
    hash, the journal of checkpoints, and what keeps forgotten texts from coming back.

    Packs, their manifests and the rows of the index are compared to the last bit. With --repair, what is damaged is
    mended from what is sound: a lost or damaged database is built again from the packs, and what was damaged stands in
    .palimpsest/damaged/, under the date. What cannot be mended is named. Close other windows of Palimpsest first.

    Versions of files that nothing mends are named and recorded as lost, also those of checkpoints: a later check counts
    them in one line, and is no failure for them. Where their bytes come back, they are whole again.

    A journal of checkpoints that was emptied or deleted is named, and versions that were deleted with their list where
    a tool's result names one. Where the whole folder of checkpoints is gone, nothing tells of it.

    Mirrors in conversations/ that are missing or not as they were written are noted, which is no failure: a person may
    have deleted or edited them. With --repair they are written anew, and an edit is kept as a version.

    Conversations that the database has lost come back from their files in conversations/, as far as those tell.

    Exit 1 where something is wrong still, or was lost. Without --repair nothing is changed but the note of the check.
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
        output.line(f"mended: {sentence}")
    for sentence in report.lost:
        output.line(f"lost: {sentence}")
    for problem in report.problems:
        if any(problem.where in sentence for sentence in report.lost):
            continue  # already printed
        output.line(f"{problem.what} {problem.where}: {problem.message}")
    if report.kept_at:
        output.narrate(f"What was damaged is kept in {report.kept_at}.")
    for note in report.notes:
        output.narrate(note)
    if report.known_lost_sentence:
        output.narrate(f"{report.known_lost_sentence} `{PROGRAM} memory log` names them.")
    if report.lost_checkpoints_sentence:
        output.narrate(report.lost_checkpoints_sentence)
    if not report.problems and not report.lost:
        all_ = "All else" if report.known_lost else "All"
        output.narrate(f"{all_} is well; {report.pages:,} pages were read and compared.")
    elif not repair:
        output.narrate(f"`{PROGRAM} check --repair` mends what can be mended, and keeps a copy of what it changes.")


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
