"""Options that the chat screen is opened with."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from foundation.paths import Workspace
from tui.output.notification import NotifyKind
from tui.widgets.transcript.items import Welcome


class ChatStart(Struct, frozen=True, kw_only=True):
    """The options of the command line, for the screen."""

    workspace: Workspace
    model: str
    project: tuple[Path, ...] = ()  # the folders where tools work
    mode: str = ""  # what tools may do
    working_directory: Path  # the working directory, for @file names
    message: str = ""
    resume: str = ""
    latest: bool = False
    new_workspace: bool = False
    notices: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()  # contents of a workspace that is not trusted yet; () if it is
    changes: tuple[str, ...] = ()  # changes to a trusted workspace, which are not in effect yet; () if there are none
    trust: Callable[[], Workspace] | None = None  # trusts the workspace, and gives the one to use from then on
    untrusted_notice: str = ""
    notify: NotifyKind = "auto"  # how to notify while the terminal has no focus
    vim_keys: bool = False  # whether the prompt has the keys of Vim
    links: Callable[[], tuple[tuple[str, str], ...]] = tuple  # links out of the workspace to ask about: name, target
    follow: Callable[[str, bool], None] | None = None  # stores whether a link is followed

    @property
    def resumes(self) -> bool:
        """Whether an earlier conversation is resumed."""
        return bool(self.resume or self.latest)

    @property
    def folder(self) -> str:
        """The workspace's folder, as it is shown."""
        return short_path(self.workspace.root)

    @property
    def welcome(self) -> Welcome:
        """The welcome of a new conversation. The mode is for models that call tools."""
        project = ", ".join(map(short_path, self.project))
        mode = "" if self.model == "offline" else self.mode
        return Welcome(self.folder, self.model, project, mode, self.new_workspace)


def short_path(path: Path) -> str:
    """The path, with `~` for the home folder."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
