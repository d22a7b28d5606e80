"""`palimpsest backup`."""

from __future__ import annotations

import os
import platform
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliGroup, nearest
from agent.cli.invocation import current
from foundation.clock import SystemClock, iso, to_ms
from foundation.errors import Misuse
from foundation.figures import counted
from foundation.paths import expand_home
from foundation.program import PROGRAM, own_command
from foundation.sizes import format_size

if TYPE_CHECKING:  # loaded by the commands that use them
    from collections.abc import Sequence

    from foundation.paths import Workspace
    from memory.backup.backup import BackupResult
    from memory.backup.place import BackupPlace
    from memory.backup.snapshot import Snapshot
    from memory.settings import ArchiveSettings


_MAX_NAMED = 20  # skipped files, for a person


class BackupGroup(CliGroup):
    """`backup DIR` is short for `backup create DIR`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = any(arg in self.commands for arg in args)
        return super().parse_args(ctx, args if named or {"-h", "--help"} & set(args) else ["create", *args])


@click.group(cls=BackupGroup)
def command() -> None:
    """Back up the workspace to a folder, S3 or a host over SSH, and restore it.

    `backup DIR` is short for `backup create DIR`. The first backup copies everything, later ones only what changed. A
    place is a folder, s3://bucket/prefix or ssh://host/folder. What is saved is not encrypted.
    """


@command.command()
@click.argument("place", metavar="[DIR]", required=False)
@click.option(
    "--keep", type=click.IntRange(min=1), metavar="N", help="Keep the newest N snapshots and delete the others."
)
def create(place: str | None, keep: int | None) -> None:
    """Back up the workspace to DIR, by default to the location of the last backup.

    The workspace may be in use: the copy of the database is consistent. Caches are not saved. If a backup is
    interrupted, earlier snapshots stay intact and the next run continues. Without --keep no snapshot is deleted.
    """
    invocation = current()
    workspace = invocation.prepare()
    from agent.version import version
    from foundation.workspace_trust import trust_store
    from memory.access import WorkspaceAccess
    from memory.backup.backup import back_up

    only_read = True if workspace.brings_state and not os.access(workspace.state, os.W_OK) else None
    access = WorkspaceAccess.of(workspace, trust_store(invocation.environment), read_only=only_read)
    try:
        saved = [workspace.root, *(Path(target) for _, target in access.workspace.links)]
        at = _open(_last_place(access.workspace) if place is None else _spelt(place), saved)
        with output.Progress("files") as count:
            result = back_up(
                access.workspace,
                at,
                SystemClock(),
                device=platform.node(),
                program=version(),
                packs_at=invocation.loaded_config.config.archive.storage,
                keep=keep or 0,
                on_file=count,
            )
    finally:
        access.close()
    if invocation.json:
        output.json_object(_result_object(result, at))
        return
    _print_result(result, at)


@command.command("list")
@click.argument("place", metavar="DIR")
def list_(place: str) -> None:
    """List the snapshots in DIR, newest first."""
    from memory.backup.retention import readable_snapshots
    from memory.backup.snapshot import snapshot_ids

    invocation, at = current(), _open(place)
    snapshot_ids(at)
    snapshots, unreadable = readable_snapshots(at)
    if invocation.json:
        shown = [_snapshot_object(snapshot) for snapshot in reversed(snapshots)]
        output.json_object({"place": at.name, "snapshots": shown, "unreadable": [one.message for one in unreadable]})
    else:
        rows = [
            (
                snapshot.id,
                f"{snapshot.time.astimezone():%Y-%m-%d %H:%M}",
                f"{len(snapshot.files):,}",
                format_size(snapshot.size),
                snapshot.device,
                snapshot.workspace,
            )
            for snapshot in reversed(snapshots)
        ]
        output.table(rows, ("ID", "TIME", "FILES", "SIZE", "DEVICE", "WORKSPACE"))
        for one in unreadable:
            output.narrate(one.message)
    invocation.status = 1 if unreadable else 0


@command.command()
@click.argument("place", metavar="DIR")
def check(place: str) -> None:
    """Verify everything in DIR against its hashes. Changes nothing.

    Exit 1 if something is damaged; the affected snapshots and files are listed.
    """
    from memory.backup.verify import check_backup

    invocation, at = current(), _open(place)
    with output.Progress("pieces") as count:
        report = check_backup(at, count)
    if invocation.json:
        output.json_object({"place": at.name, "sound": not report.problems, **output.plain_values(report)})
    else:
        for problem in report.problems:
            where = f" Snapshots: {', '.join(problem.snapshots)}." if problem.snapshots else ""
            output.line(problem.message + where)
        read = f"{counted(report.snapshots, 'snapshot')} and {counted(report.pieces, 'piece')}"
        output.narrate(f"{read} ({format_size(report.bytes)}) verified in {at.name}.")
        if not report.problems:
            output.narrate("No damage found.")
    invocation.status = 1 if report.problems else 0


@command.command()
@click.argument("place", metavar="DIR")
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--at", metavar="WHEN", help="An id from `backup list`, or a date or time: the newest snapshot up to then."
)
@click.option("--skip-damaged", is_flag=True, help="Skip damaged files, list them, and restore the rest.")
def restore(place: str, target: Path, at: str | None, *, skip_damaged: bool) -> None:
    """Restore a snapshot from DIR to TARGET, an empty or new folder. Default: the newest not dated in the future.

    Each file is verified before and after it is written; then the workspace is checked as by `check`. A file that no
    backup makes, such as one in `.git`, is skipped. Exit 1 if the check finds a problem or a file was skipped. TARGET
    appears only when it is complete, and may not be inside a workspace or the backup.
    """
    from msgspec import structs

    from agent.checkpoints.check import check_checkpoints
    from foundation.paths import Workspace
    from memory.backup.choice import choose_snapshot, ids_after
    from memory.backup.restore import restore as restore_snapshot
    from memory.backup.snapshot import snapshot_ids

    invocation, source, now_ms = current(), _open(place), to_ms(SystemClock().now())
    snapshot = choose_snapshot(source, at, now_ms)
    later = ids_after(snapshot_ids(source), now_ms) if at is None else ()
    if later:
        output.narrate(_later_sentence(snapshot.id, later))
    with output.Progress("files") as count:
        result = restore_snapshot(
            source,
            snapshot,
            invocation.here / expand_home(target),
            settings=_settings_for(snapshot),
            skip_damaged=skip_damaged,
            on_file=count,
        )
    problems = (*result.report.problems, *check_checkpoints(Workspace(result.target).checkpoints))
    report = structs.replace(result.report, problems=problems)
    if invocation.json:
        output.json_object(
            {
                "place": source.name,
                "snapshot": _snapshot_object(snapshot),
                "dated_later": list(later),
                "target": str(result.target),
                "files": result.files,
                "bytes": result.bytes,
                "left_out": [file.path for file in result.left_out],
                "reasons": [file.why for file in result.left_out],
                "check": report.as_json(),
            }
        )
    else:
        size, files = format_size(result.bytes), counted(result.files, "file")
        output.line(f"Restored {snapshot.id} to {result.target}: {files}, {size}, all verified.")
        for each in result.left_out[:_MAX_NAMED]:
            output.line(f"skipped: {each.why}")
        if (more := len(result.left_out) - _MAX_NAMED) > 0:
            output.line(f"skipped: {counted(more, 'other file')}. `--json` lists all.")
        for problem in problems:
            output.line(f"{problem.what} {problem.where}: {problem.message}")
        if not problems:
            output.narrate(f"The workspace was checked: no damage found, {counted(report.pages, 'page')} read.")
        if snapshot.packs_at:
            output.narrate(f"The packs in {snapshot.packs_at} are not part of the backup.")
        output.narrate(f"Open it with `{own_command('--workspace', str(result.target))}`; add `--trust` to trust it.")
    invocation.status = 1 if problems or result.left_out else 0


def _later_sentence(taken: str, later: Sequence[str]) -> str:
    """Which snapshot is restored where the ids `later` have times that are still to come."""
    if taken in later:
        return (
            "All snapshots are dated in the future: this device's clock is behind, or theirs was ahead. "
            f"Restored the latest, {taken}. `--at ID` picks another; `backup list` shows them."
        )
    bear = "is dated" if len(later) == 1 else "are dated"
    return (
        f"Restored {taken}, the newest up to now. {', '.join(later)} {bear} in the future and "
        f"{'is' if len(later) == 1 else 'are'} skipped: the clock was ahead then, or is behind now. "
        f"`--at {later[-1]}` restores {'it' if len(later) == 1 else 'the latest of them'}."
    )


def _open(place: str, saved: Sequence[Path] = ()) -> BackupPlace:
    from memory.backup.place import open_place

    return open_place(place, current().here, saved)


def _settings_for(snapshot: Snapshot) -> ArchiveSettings:
    """The settings for the check: packs elsewhere are read only where the configuration in force names that place."""
    from msgspec import structs

    from agent.config.config import read_config

    settings = read_config(current().workspace, current().environment, {}).config.archive
    return settings if settings.storage == snapshot.packs_at else structs.replace(settings, storage="")


def _last_place(workspace: Workspace) -> str:
    """Where the last backup was made. A remote one must be named: the note of it may have come with the workspace."""
    from memory.backup.reminder import last_backup

    last = last_backup(workspace)
    if last is not None and "://" not in last.place:
        return last.place
    known = f"The last backup was made to {last.place}" if last else "This workspace has no backup yet"
    raise Misuse(
        "No backup location",
        f"{known}, and no location is given.",
        f"Run `{PROGRAM} backup DIR`, preferably with a folder on another disk.",
    )


def _spelt(place: str) -> str:
    """The place. Raises Misuse for a word that resembles a subcommand and names no folder."""
    similar = nearest(place, list(command.commands))
    if similar and not (current().here / expand_home(place)).exists():
        raise Misuse(
            "Unknown command",
            f"There is no command “backup {place}”. Did you mean “{similar}”?",
            f"To use a folder of that name: {own_command('backup', './' + place)}",
        )
    return place


def _print_result(result: BackupResult, place: BackupPlace) -> None:
    snapshot, removed = result.snapshot, result.removed
    new = f"{counted(result.new_pieces, 'new piece')}, {format_size(result.new_bytes)} written"
    files = f"{counted(len(snapshot.files), 'file')}, {format_size(snapshot.size)}"
    output.line(f"{snapshot.id} at {place.name}: {files}; {new}.")
    if removed.snapshots:
        output.line(f"{counted(removed.snapshots, 'old snapshot')} removed, {format_size(removed.bytes)}.")
    if later := result.dated_later:
        bear = "is dated" if len(later) == 1 else "are dated"
        output.narrate(
            f"{', '.join(later)} {bear} later than this snapshot: the clock was ahead then, or is behind "
            "now. `--keep` treats them as older than this one; choose one with `restore --at ID`."
        )
    for name in result.skipped:
        output.narrate(f"Not saved: {name} is a link, not a regular file, or too deeply nested.")
    if snapshot.packs_at:
        output.narrate(f"The packs in {snapshot.packs_at} are not part of the backup.")


def _result_object(result: BackupResult, place: BackupPlace) -> dict[str, Any]:
    return {
        "place": place.name,
        "snapshot": _snapshot_object(result.snapshot),
        "new_pieces": result.new_pieces,
        "new_bytes": result.new_bytes,
        "skipped": list(result.skipped),
        "removed": output.plain_values(result.removed),
        "dated_later": list(result.dated_later),
    }


def _snapshot_object(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "id": snapshot.id,
        "time": iso(snapshot.time.astimezone(UTC)),
        "device": snapshot.device,
        "workspace": snapshot.workspace,
        "program": snapshot.program,
        "packs_at": snapshot.packs_at,
        "files": len(snapshot.files),
        "bytes": snapshot.size,
    }
