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
    from memory.sync.encryption import Keys, new_secret, read_secret, store_secret, stored_secret

    known = stored_secret(environment)
    secret = read_secret(source) if source else known or new_secret()
    if known not in {"", secret}:
        raise Misuse(
            "Another key",
            f"This device has a different key than {source}.",
            f"Add its public key on the other devices (`{PROGRAM} sync add LOCATION --recipient age1…`), or save it "
            f"with `{PROGRAM} sync key FILE` and remove it with `{PROGRAM} keys remove sync`: data encrypted only for "
            "it can then not be read here.",
        )
    keys = Keys(secret, ())
    if not known:
        store_secret(environment, secret)
    return keys.recipient


def encrypts_by_default(place: BackupPlace, settings: SyncSettings, environment: Mapping[str, str]) -> bool:
    """Whether data at a location that is added is encrypted without being asked for: always, but where devices sync
    without encryption already. Raises Misuse for an encrypted location without its key."""
    from memory.sync.encryption import stored_secret
    from memory.sync.names import parse_name

    names = [name for text in place.sizes() if (name := parse_name(text)) is not None]
    is_plain = any(not name.is_encrypted for name in names)
    if names and not is_plain and not stored_secret(environment):
        raise Misuse(
            "The location is encrypted",
            f"Other devices encrypt their data at {place.name}, and this device has no key.",
            f"On one of them: `{PROGRAM} sync key FILE`. Here: `{PROGRAM} sync add LOCATION --key FILE`.",
        )
    return bool(settings.recipients) or not (settings.locations or is_plain)


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
