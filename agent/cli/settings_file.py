"""Saving settings: the configuration file to change, and whether that is allowed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.cli.invocation import Invocation
from agent.config.config import user_config
from agent.config.edit import save_value
from agent.config.settings import Setting
from foundation.errors import Misuse
from foundation.paths import config_dir
from foundation.workspace_trust import trust_command, trust_store
from memory.access import not_trusted


def settings_file(invocation: Invocation, setting: Setting, *, user: bool) -> tuple[Path, Path]:
    """The configuration file for the setting, and its folder of versions. Raises Misuse where it would be ignored."""
    config_folder = config_dir(invocation.environment)
    if user:
        return user_config(invocation.environment), config_folder / "versions"
    workspace = invocation.prepare()
    trust = trust_store(invocation.environment).state(workspace)
    if workspace.brings_state and not trust.trusted:
        raise not_trusted(workspace)
    if setting.guarded and workspace.brings_state and not trust.config_in_force:
        raise Misuse(
            "Not trusted",
            f"This workspace may not set “{setting.name}”: it can name a path, an address or a command.",
            f"Set it for yourself instead, or say `{trust_command(workspace)}` first.",
        )
    return workspace.config, workspace.versions


def save_settings(invocation: Invocation, file: tuple[Path, Path], values: Sequence[tuple[Setting, Any]]) -> None:
    """Sets the values in the file that `settings_file` gave.

    This change does not end the trust in a workspace's configuration; an earlier foreign one still does.
    """
    path, versions = file
    workspace, trust = invocation.workspace, trust_store(invocation.environment)
    is_new, in_force = not workspace.brings_state, trust.state(workspace).config_in_force
    for setting, value in values:
        save_value(path, versions, setting, value)
    if path != workspace.config:
        return
    if is_new:
        trust.trust(workspace, "")
    elif in_force:
        trust.renew_config(workspace)
