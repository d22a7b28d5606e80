"""Syncing as a person asks for it: locations in the configuration, keys, and a run with each location."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.config.settings import all_settings
from agent.services.foreign_deletion import ForeignDeletions
from agent.services.settings import save_settings, settings_file
from foundation.errors import Misuse
from foundation.paths import Workspace
from foundation.program import PROGRAM

if TYPE_CHECKING:  # the help of a command must not load the store
    from memory.backup.place import BackupPlace
    from memory.memory import Memory
    from memory.settings import SyncSettings
    from memory.sync.sync import Sync


def open_location(address: str, here: Path, workspace: Workspace) -> BackupPlace:
    """The location at that address. Raises UnusableFolder for one in the workspace, Misuse, MissingLibrary."""
    from memory.sync.place import open_sync_place

    return open_sync_place(address, here, [workspace.root, *(Path(target) for _, target in workspace.links)])


def open_sync(memory: Memory, settings: SyncSettings, environment: Mapping[str, str]) -> Sync:
    """The sync of this workspace, with its keys. A deletion of another device deletes all that belongs to it."""
    from memory.sync.encryption import open_keys
    from memory.sync.sync import Sync

    keys, deletions = open_keys(settings.recipients, environment), ForeignDeletions(memory)
    return Sync(memory, deletions, keys=keys, encrypts=bool(settings.recipients), ask_above=settings.ask_above)


def take_key(environment: Mapping[str, str], source: Path | None) -> str:
    """Takes the key of another device from a file, or makes one where there is none; gives the public key.

    Raises Misuse where another key is there already.
    """
    from memory.sync.encryption import Keys, key_file, new_secret, read_secret, write_secret

    file = key_file(environment)
    if source is None:
        secret = read_secret(file) if file.exists() else new_secret()
    else:
        secret = read_secret(source)
        if file.exists() and read_secret(file) != secret:
            raise Misuse(
                "Another key",
                f"{file} contains a different key than {source}.",
                f"Add its public key on the other devices (`{PROGRAM} sync add LOCATION --recipient "
                "age1…`), or move it away first; data encrypted only for it can then not be read here.",
            )
    keys = Keys(secret, ())
    if not file.exists():
        write_secret(file, secret)
    return keys.recipient


def save_sync_settings(workspace: Workspace, environment: Mapping[str, str], values: Mapping[str, Any]) -> None:
    """Sets `sync.*` in the workspace's configuration. Raises Misuse where it is not trusted."""
    for name, value in values.items():
        setting = all_settings()[f"sync.{name}"]
        file = settings_file(workspace, environment, setting, user=False)
        save_settings(workspace, environment, file, [(setting, value)])


def device_name() -> str:
    """What this device is called before its owner calls it something else."""
    return platform.node() or "device"


def unknown_location(name: str, known: Sequence[str]) -> Misuse:
    there = f"The locations are: {', '.join(known)}." if known else "No location was added."
    return Misuse("No such location", f"{name} is not a location of this workspace.", there)
