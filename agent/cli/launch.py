"""Launch options that the command line passes to the screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:  # the first paint must not load these
    from pathlib import Path

    from agent.config.config import Config
    from agent.permissions.mode import PermissionMode
    from agent.permissions.rules import Rule
    from foundation.paths import Workspace


class LaunchOptions(Struct, frozen=True, kw_only=True):
    """How to open the chat. `resume` is a conversation's id, `latest` the newest one; without them a new one begins."""

    workspace: Workspace
    config: Config
    workspace_flag: str = ""  # the value of --workspace; "" without the flag
    message: str = ""  # the first message, sent at once
    resume: str = ""
    latest: bool = False
    screen_reader: bool | None = None  # of --screen-reader; None takes the configured one
    project: tuple[Path, ...] = ()  # the folders where tools work; () is the current one
    mode: PermissionMode | None = None  # of --mode; None takes the configured one
    rules: tuple[Rule, ...] = ()  # of --allow, --deny and --ask, for the session
    new_workspace: bool = False  # just created: shows the welcome
    notices: tuple[str, ...] = ()  # about the configuration
    brings: tuple[str, ...] = ()  # the contents of a workspace that is not trusted, for the dialog
    changes: tuple[str, ...] = ()  # changes of a trusted workspace that are not in force, for the dialog
    trust: Callable[[], LaunchOptions] | None = None  # trusts the workspace; gives the new options
    untrusted_notice: str = ""  # the notice about what is not in force
    links: tuple[tuple[str, str], ...] = ()  # unanswered links out of it: name, target
    follow: Callable[[str, bool], LaunchOptions] | None = None  # allows or declines a link; gives the new options
