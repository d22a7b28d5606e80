"""What the command line hands to a screen."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:  # a screen paints before these are loaded
    from agent.config.config import Config
    from foundation.paths import Workspace


class LaunchOptions(Struct, frozen=True, kw_only=True):
    """Open the chat here. `resume` is a conversation's id, `latest` asks for the newest; "" and False begin anew."""

    workspace: Workspace
    config: Config
    workspace_flag: str = ""  # the folder as --workspace named it; "" where the flag was not given
    message: str = ""  # the first one, to be sent at once
    resume: str = ""
    latest: bool = False
    new_workspace: bool = False  # it was made just now: a welcome is in place
    notices: tuple[str, ...] = ()  # about the configuration
    brings: tuple[str, ...] = ()  # what a workspace that is not trusted brings: the person is asked
    changes: tuple[str, ...] = ()  # what changed under a trusted workspace and is not in force: the person is asked
    trust: Callable[[], LaunchOptions] | None = None  # trusts it; gives how to open it then
    untrusted_notice: str = ""  # what is not in force until then
    links: tuple[tuple[str, str], ...] = ()  # links out of it that the person has not been asked about: name, target
    follow: Callable[[str, bool], LaunchOptions] | None = None  # follows a link, or never; gives how to open it then
