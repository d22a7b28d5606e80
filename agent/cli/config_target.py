"""Which configuration file a command writes to, and whether it may."""

from pathlib import Path

from agent.cli.invocation import Invocation
from agent.config import config_dir, user_config
from agent.settings import Setting
from agent.workspace_trust import TrustList
from foundation.errors import Misuse


def target(invocation: Invocation, setting: Setting, *, user: bool) -> tuple[Path, Path]:
    """The file to set it in, and the folder that keeps versions of it. Raises Misuse where it would be ignored."""
    own = config_dir(invocation.environment)
    if user:
        return user_config(invocation.environment), own / "versions"
    workspace = invocation.prepare()
    if setting.guarded and workspace not in TrustList(own):
        raise Misuse(
            "Not trusted",
            f"This workspace may not set “{setting.name}”: it can name a path, an address or a command.",
            "Set it for yourself instead, or say `palimpsest config trust` first.",
        )
    return workspace.config, workspace.versions
