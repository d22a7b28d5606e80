"""Changing settings: which configuration file is changed, whether that is allowed, and the change."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from agent.config.config import read_config, user_config
from agent.config.edit import remove_value, save_value
from agent.config.secrets import refuse_secrets
from agent.config.settings import Setting, all_settings
from foundation.errors import Misuse
from foundation.paths import Workspace, config_dir
from foundation.workspace_trust import trust_command, trust_store
from memory.access import not_trusted


class SettingsFile(Struct, frozen=True):
    """A configuration file, and the folder that keeps its versions."""

    path: Path
    versions: Path


def settings_file(
    workspace: Workspace, environment: Mapping[str, str], setting: Setting, *, user: bool
) -> SettingsFile:
    """The file that holds the setting: the user's, or the workspace's. Raises Misuse where it would be ignored."""
    if user:
        return SettingsFile(user_config(environment), config_dir(environment) / "versions")
    trust = trust_store(environment).state(workspace)
    if workspace.brings_state and not trust.trusted:
        raise not_trusted(workspace)
    if setting.guarded and workspace.brings_state and not trust.config_in_force:
        raise Misuse(
            "Not trusted",
            f"This workspace may not set “{setting.name}”: it can name a path, an address or a command.",
            f"Set it for yourself instead, or say `{trust_command(workspace)}` first.",
        )
    return SettingsFile(workspace.config, workspace.versions)


def save_settings(
    workspace: Workspace, environment: Mapping[str, str], file: SettingsFile, values: Sequence[tuple[Setting, Any]]
) -> None:
    """Sets the values (see `parse_value`) in the file that `settings_file` gave; RESET takes a setting out of it.

    This change does not end the trust in a workspace's configuration; an earlier foreign one still does. Raises Misuse
    for a value that holds a secret, ConfigError where the file cannot be changed without loss.
    """
    for setting, value in values:
        refuse_secrets(setting, value)
    trust = trust_store(environment)
    is_new, in_force = not workspace.brings_state, trust.state(workspace).config_in_force
    for setting, value in values:
        if value is RESET:
            remove_value(file.path, file.versions, setting)
        else:
            save_value(file.path, file.versions, setting, value)
    if file.path != workspace.config:
        return
    if is_new:
        trust.trust(workspace, "")
    elif in_force:
        trust.renew_config(workspace)


class _Reset:
    pass


RESET = _Reset()
"""In place of a value: the setting has its default again, or what another file says."""


def set_for_user(workspace: Workspace, environment: Mapping[str, str], name: str, value: Any) -> str:
    """Sets the setting in the user's file, for all workspaces; RESET takes it out.

    Gives what decides instead where another source outranks that file, "" where none does. Blocks; raises as
    `save_settings`.
    """
    setting = all_settings()[name]
    file = settings_file(workspace, environment, setting, user=True)
    save_settings(workspace, environment, file, [(setting, value)])
    origin = read_config(workspace, environment, {}).origins[name]
    is_own = origin == "default" or origin.startswith(f"{file.path}, ")
    return "" if is_own else origin
