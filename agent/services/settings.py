"""Changing settings: which configuration file is changed, whether that is allowed, and the change."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from agent.config.common_settings import COMMON
from agent.config.config import read_config, user_config
from agent.config.edit import parse_value, remove_value, save_value
from agent.config.secrets import refuse_secrets, without_secrets
from agent.config.settings import Setting, all_settings, value_of
from agent.services.live_settings import holds
from foundation.errors import Misuse
from foundation.paths import Workspace, config_dir
from foundation.workspace_trust import trust_command, trust_store
from memory.access import not_trusted

_ORDER: Final = {name: place for place, name in enumerate(COMMON)}


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
            f"Set it in your user configuration, or run `{trust_command(workspace)}` first.",
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


class SettingRow(Struct, frozen=True, kw_only=True):
    """A setting with its value and who set it, for a list of all. `written` is how the value is written."""

    setting: Setting
    written: str
    origin: str  # "default", a file with its line, a variable, or a flag
    of_workspace: bool  # the workspace's file sets it
    is_secret: bool  # it holds a key or a password, which `written` leaves out
    holds: str  # from when a change holds in a running chat
    title: str  # its name in words, if it is one of those that people change most; else ""

    @property
    def is_changed(self) -> bool:
        return self.origin != "default"


def setting_rows(workspace: Workspace, environment: Mapping[str, str]) -> list[SettingRow]:
    """Every setting as it is configured; those that people change most first. Blocks."""
    reading = read_config(workspace, environment, {})
    rows: list[SettingRow] = []
    for name, setting in all_settings().items():
        value = value_of(reading.config, name)
        shown = without_secrets(value, name)
        row = SettingRow(
            setting=setting,
            written=written_value(shown),
            origin=reading.origins[name],
            of_workspace=reading.origins[name].startswith(f"{workspace.config}, "),
            is_secret=shown != value,
            holds=holds(name),
            title=COMMON.get(name, ""),
        )
        rows.append(row)
    return sorted(rows, key=lambda row: _ORDER.get(row.setting.name, len(_ORDER)))


def written_value(value: Any) -> str:
    """The value as `parse_value` reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)  # YAML reads JSON
    return "" if value is None else str(value)


def change_setting(
    workspace: Workspace, environment: Mapping[str, str], name: str, text: str | None, *, user: bool
) -> SettingRow:
    """Sets a setting to what was typed, for all workspaces of the user or for this one; None takes it out.

    Gives its row afterwards: another source may outrank the file. Blocks; raises Misuse and ConfigError.
    """
    setting = all_settings()[name]
    value = RESET if text is None else parse_value(setting, text)
    file = settings_file(workspace, environment, setting, user=user)
    save_settings(workspace, environment, file, [(setting, value)])
    return next(row for row in setting_rows(workspace, environment) if row.setting.name == name)
