"""Options that the chat screen is opened with."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from foundation.paths import Workspace


class ChatStart(Struct, frozen=True, kw_only=True):
    """The options of the command line, for the screen."""

    workspace: Workspace
    model: str
    here: Path  # the working directory, for @file names
    message: str = ""
    resume: str = ""
    latest: bool = False
    new_workspace: bool = False
    notices: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()  # what a workspace brings that is not trusted yet; () where it is
    changes: tuple[str, ...] = ()  # what changed under a trusted workspace, and is not in force; () where nothing did
    trust: Callable[[], Workspace] | None = None  # trusts it, and gives where files go then
    untrusted_notice: str = ""
    links: Callable[[], tuple[tuple[str, str], ...]] = tuple  # links out of it to ask about: name, target
    follow: Callable[[str, bool], None] | None = None  # follows a link, or never

    @property
    def resumes(self) -> bool:
        """Whether an earlier conversation is resumed."""
        return bool(self.resume or self.latest)


def short_path(path: Path) -> str:
    """The path, with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
