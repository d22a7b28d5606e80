"""`palimpsest sync`."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.cli import output
from agent.cli.group import CliGroup
from agent.cli.invocation import Invocation, current
from foundation.clock import from_ms, iso
from foundation.errors import Misuse, PalimpsestError, TemporaryFailure
from foundation.figures import counted
from foundation.paths import expand_home
from foundation.program import PROGRAM
from foundation.sizes import format_size

if TYPE_CHECKING:  # loaded by the commands that use them
    from collections.abc import Sequence

    from foundation.paths import Workspace
    from memory.sync.last_run import LastRun
    from memory.sync.other_logs import Unread
    from memory.sync.status import LocationStatus, WorkspaceStatus
    from memory.sync.sync import SyncResult

_MOST_PROBLEMS = 5  # files that could not be read, for a person
_PLAIN = "Not encrypted: whoever can write to a location can read it and write as any of your devices."
_NEXT = f"`{PROGRAM} sync now` syncs; `{PROGRAM} config set sync.background true` syncs after turns."


@click.group(cls=CliGroup)
def command() -> None:
    """Share conversations, titles, labels, deletions and notes with your other devices.

    A location is a folder that something carries between them (Syncthing, Dropbox, a USB stick), s3://bucket/prefix or
    ssh://host/folder. There is no server: each device writes files of its own there and reads those of the others.
    """


@command.command()
@click.argument("location")
@click.option("--name", metavar="NAME", help="Name of this device; default: its host name.")
@click.option(
    "--encrypt/--no-encrypt",
    default=None,
    help="Encrypt data at the locations with your own key; default: yes, unless devices sync there without.",
)
@click.option("--key", type=click.Path(path_type=Path), help="The key file of another device. Implies --encrypt.")
@click.option(
    "--recipient", multiple=True, metavar="AGE1…", help="A public key that can also decrypt. Implies --encrypt."
)
def add(location: str, name: str | None, encrypt: bool | None, key: Path | None, recipient: tuple[str, ...]) -> None:
    """Add LOCATION. Nothing is read or written before `sync now`.

    An encrypted location contains no readable text, titles or names, and nobody without the key can write there as one
    of your devices. The key is created here, or copied from another device with --key, and stored in the keyring.
    """
    from agent.services.sync import (
        device_name,
        encrypts_by_default,
        open_location,
        open_sync,
        save_sync_settings,
        take_key,
    )
    from memory.sync.encryption import refuse_unusable

    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        settings = invocation.loaded_config.config.sync
        refuse_unusable([*settings.recipients, *recipient])
        place = open_location(location, invocation.here, memory.workspace)
        place.make()
        values: dict[str, Any] = {"locations": sorted({*settings.locations, place.name})}
        public = ""
        if encrypt is None:
            encrypt = bool(key or recipient) or encrypts_by_default(place, settings, invocation.environment)
        if encrypt or key or recipient:
            public = take_key(invocation.environment, invocation.here / expand_home(key) if key else None)
            values["recipients"] = sorted({*settings.recipients, public, *recipient})
        save_sync_settings(memory.workspace, invocation.environment, values)
        sync = open_sync(memory, settings, invocation.environment)
        device = sync.begin(name or (sync.device.name if sync.device else device_name()))
        if public:  # the key or the recipients are others, or an earlier version wrote without a proof
            sync.renew_recipients()
    if invocation.json:
        output.json_object(
            {
                "location": place.name,
                "device": {"id": device.id, "name": device.name},
                "recipient": public,
            }
        )
        return
    output.line(f"Added {place.name}; this device is {device.name} ({device.id}).")
    if public:
        output.line(f"Encrypted for {public}")
        output.narrate(
            f"`{PROGRAM} sync key FILE` writes the key to a file: keep a copy, without it nobody can read the data. "
            f"On the other devices: `{PROGRAM} sync add LOCATION --key FILE`."
        )
    elif not settings.recipients:
        output.narrate(_PLAIN)
    output.narrate(_NEXT)


@command.command("key")
@click.argument("file", type=click.Path(path_type=Path))
def key_(file: Path) -> None:
    """Write the key of this device to FILE, for `sync add LOCATION --key FILE` on another device."""
    from foundation.files import exists
    from memory.sync.encryption import stored_secret, write_secret

    invocation = current()
    secret, target = stored_secret(invocation.environment), invocation.here / expand_home(file)
    if not secret:
        raise Misuse("No key", "This device has no key for sync.", f"`{PROGRAM} sync add LOCATION` makes one.")
    if exists(target):
        raise Misuse("The file exists", f"{target} was not changed.", "Choose a new file.")
    write_secret(target, secret)
    if invocation.json:
        output.json_object({"file": str(target)})
        return
    output.line(
        f"Wrote the key to {target}. Whoever has it can read your data: delete it when it is on the other device."
    )


@command.command()
def status() -> None:
    """Show this device, its locations, other devices, and files that could not be read.

    Changes nothing. Exit 1 if a file is damaged, from a newer version, or a copy made by another program; 75 if a
    location does not respond.
    """
    from agent.services.sync import open_location, open_sync
    from memory.sync.consent import HELD
    from memory.sync.last_run import last_runs
    from memory.sync.status import location_status, workspace_status

    invocation = current()
    with invocation.memory() as memory:
        settings = invocation.loaded_config.config.sync
        whole, runs = workspace_status(memory), last_runs(memory.workspace)
        held = open_sync(memory, settings, invocation.environment).held()
        found: list[tuple[str, LocationStatus | None, str]] = []
        for location in settings.locations:
            try:
                place = open_location(location, invocation.here, memory.workspace)
                found.append((location, location_status(memory, place), ""))
            except PalimpsestError as error:
                found.append((location, None, error.message))
    if invocation.json:
        listed = [_location_object(*each, runs.get(each[0])) for each in found]
        waiting = [output.plain_values(change) for change in held]
        encrypted = bool(settings.recipients)
        output.json_object({**_status_object(whole), "encrypted": encrypted, "held": waiting, "locations": listed})
    else:
        _print_status(whole, found, runs)
        if found and not settings.recipients:
            output.line(_PLAIN)
        for change in held:
            output.line(f"{change.sentence} {HELD}")
    damaged = any(each is not None and each.problems for _, each, _ in found)
    invocation.status = 1 if damaged else 75 if any(each is None for _, each, _ in found) else 0


@command.command()
@click.argument("location", required=False)
def now(location: str | None) -> None:
    """Sync with LOCATION, or with all locations.

    Can be interrupted; the next run continues. Exit 1 if a file could not be read or is a copy made by another program;
    75 if a location does not respond or another process is syncing.
    """
    from agent.services.sync import device_name, open_location, open_sync, unknown_location

    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        settings = invocation.loaded_config.config.sync
        wanted = _chosen(invocation, memory.workspace, location) if location else settings.locations
        if not wanted:
            raise Misuse("No location", "No location was added.", f"`{PROGRAM} sync add LOCATION` adds one.")
        if unknown := [each for each in wanted if each not in settings.locations]:
            raise unknown_location(unknown[0], settings.locations)
        sync = open_sync(memory, settings, invocation.environment)
        if sync.device is None:  # its settings came with it, its database did not
            sync.begin(device_name())
        results, failures = list[Any](), list[PalimpsestError]()
        for each in wanted:
            try:
                results.append(sync.run(open_location(each, invocation.here, memory.workspace)))
            except TemporaryFailure as error:  # the others may answer
                failures.append(error)
        if results:
            memory.search.update()
    if failures and not results:
        raise failures[0]
    _print_results(invocation, results, failures)
    invocation.status = 1 if any(result.unread for result in results) else 75 if failures else 0


def _answer(ids: tuple[str, ...], *, accept: bool, everything: bool) -> None:
    from agent.services.sync import open_sync

    invocation = current()
    with invocation.memory(for_writing=True) as memory:
        sync = open_sync(memory, invocation.loaded_config.config.sync, invocation.environment)
        held = sync.held()
        chosen = {change.id for change in held} if everything else {*ids}
        if unknown := sorted(chosen - {change.id for change in held}):
            raise Misuse("Nothing waits", f"No change of {unknown[0]} waits.", f"`{PROGRAM} sync status` lists them.")
        if not chosen:
            raise Misuse("No ID", "Name what is meant.", f"`{PROGRAM} sync status` lists what waits; --all takes all.")
        sync.answer(chosen, accept=accept)
        memory.search.update()
    answered = [change for change in held if change.id in chosen]
    if invocation.json:
        output.json_object({"accepted": accept, "changes": [output.plain_values(change) for change in answered]})
        return
    for change in answered:
        output.line(f"{'Accepted' if accept else 'Refused'}: {change.sentence}")


@command.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Accept everything that waits.")
def accept(ids: tuple[str, ...], *, everything: bool) -> None:
    """Delete here what another device deleted: conversations and notes that `sync status` lists by ID."""
    _answer(ids, accept=True, everything=everything)


@command.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--all", "everything", is_flag=True, help="Refuse everything that waits.")
def refuse(ids: tuple[str, ...], *, everything: bool) -> None:
    """Keep here what another device deleted. A note that is kept is sent to the other devices again."""
    _answer(ids, accept=False, everything=everything)


@command.command()
@click.argument("location")
def remove(location: str) -> None:
    """Stop syncing with LOCATION. Files there and data received from there are kept."""
    from agent.services.sync import save_sync_settings, unknown_location

    invocation = current()
    workspace = invocation.prepare(writable=True)
    settings = invocation.loaded_config.config.sync
    (chosen,) = _chosen(invocation, workspace, location)
    if chosen not in settings.locations:
        raise unknown_location(location, settings.locations)
    left = [each for each in settings.locations if each != chosen]
    save_sync_settings(workspace, invocation.environment, {"locations": left})
    if invocation.json:
        output.json_object({"location": chosen, "locations": left})
        return
    output.line(f"Removed {chosen}. Its files were kept: delete them yourself if no other device needs them.")


def _chosen(invocation: Invocation, workspace: Workspace, location: str) -> list[str]:
    """The location as the configuration has it."""
    from agent.services.sync import open_location

    known = invocation.loaded_config.config.sync.locations
    return [location] if location in known else [open_location(location, invocation.here, workspace).name]


def _print_results(invocation: Invocation, results: list[SyncResult], failures: list[PalimpsestError]) -> None:
    if invocation.json:
        output.json_object(
            {"runs": [_result_object(each) for each in results], "failures": [each.message for each in failures]}
        )
        return
    for result in results:
        taken = result.taken
        counts = (
            (taken.entries, "entry", "entries"),
            (taken.values, "title or label", "titles and labels"),
            (taken.deletions, "deletion", "deletions"),
            (len(result.notes), "changed note", "changed notes"),
        )
        news = ", ".join(f"{number:,} {one if number == 1 else many}" for number, one, many in counts if number)
        written = f"{counted(result.segments_written, 'file')} written ({format_size(result.bytes_written)})"
        output.line(f"{result.location}: {news or 'nothing new'} from other devices; {written}.")
        for sentence in result.news:
            output.line(sentence)
        for change in {*result.held} - {*result.newly_held}:
            output.line(f"{change.sentence} It waits for your answer.")
        if result.deleted:
            output.line(f"Deleted as on another device: {counted(result.deleted, 'conversation')}.")
        for name in result.held_back:
            output.narrate(f"Not synced: {name}. It contains private text or a secret, cannot be read, or is too long.")
        _print_problems(result.unread)
    for failure in failures:
        output.narrate(failure.message)


def _print_status(
    whole: WorkspaceStatus, found: list[tuple[str, LocationStatus | None, str]], runs: dict[str, LastRun]
) -> None:
    if whole.device is None or not found:
        output.narrate(f"No location was added. `{PROGRAM} sync add LOCATION` adds one.")
    if whole.device is not None:
        todo = "some data is not uploaded yet" if whole.unwritten else "everything is uploaded"
        output.line(f"This device is {whole.device.name} ({whole.device.id}); {todo}.")
    if whole.waiting:
        output.line(
            f"Received before the entries that they reply to: {counted(whole.waiting, 'message')} from other devices."
        )
    if whole.due:
        output.line(
            f"{counted(whole.due, 'conversation')} deleted on another device will be deleted at the next `sync now`."
        )
    for location, there, error in found:
        last = runs.get(location)
        when = f"{last.done.astimezone():%Y-%m-%d %H:%M}" if last and last.done else "never yet"
        if there is None:
            output.line(f"{location}: {error} Last sync: {when}.")
            continue
        output.line(f"{location}: {counted(there.segments, 'file')}, {format_size(there.bytes)}. Last sync: {when}.")
        for device in there.devices:
            news = f"{device.unread:,} not read yet" if device.unread else "all read"
            output.line(f"  {device.name or 'not read yet'} ({device.id}): {counted(device.segments, 'file')}, {news}.")
            if device.missing:
                numbers = ", ".join(map(str, device.missing))
                output.line(f"    missing: {numbers}. That device uploads them again at its next sync.")
        _print_problems(there.problems, "  ")


def _print_problems(problems: Sequence[Unread], indent: str = "") -> None:
    """A line for each of the first files that could not be read; the others are counted."""
    for problem in problems[:_MOST_PROBLEMS]:
        output.line(f"{indent}{problem.message}")
    if (more := len(problems) - _MOST_PROBLEMS) > 0:
        output.line(f"{indent}{counted(more, 'other file')} could not be read. `--json` lists all.")


def _status_object(whole: WorkspaceStatus) -> dict[str, Any]:
    device = whole.device
    return {
        "device": {"id": device.id, "name": device.name} if device else None,
        "unwritten": whole.unwritten,
        "waiting": whole.waiting,
        "due": whole.due,
    }


def _location_object(location: str, there: LocationStatus | None, error: str, last: LastRun | None) -> dict[str, Any]:
    return {
        "location": location,
        "answers": there is not None,
        "message": error or (last.error if last else ""),
        "last_sync": iso(from_ms(last.done_ms).astimezone(UTC)) if last and last.done_ms else None,
        "files": there.segments if there else None,
        "bytes": there.bytes if there else None,
        "devices": [output.plain_values(device) for device in there.devices] if there else [],
        "problems": [output.plain_values(problem) for problem in there.problems] if there else [],
    }


def _result_object(result: SyncResult) -> dict[str, Any]:
    return {
        "location": result.location,
        "device": {"id": result.device.id, "name": result.device.name},
        "taken": output.plain_values(result.taken),
        "files_read": result.segments_read,
        "files_written": result.segments_written,
        "bytes_written": result.bytes_written,
        "deleted": result.deleted,
        "notes_changed": len(result.notes),
        "notes": [output.plain_values(each) for each in result.notes],
        "kept": [output.plain_values(each) for each in result.kept],
        "new_devices": [output.plain_values(each) for each in result.new_devices],
        "held_back": list(result.held_back),
        "held": [output.plain_values(each) for each in result.held],
        "unread": [output.plain_values(each) for each in result.unread],
    }
