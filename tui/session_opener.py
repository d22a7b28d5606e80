"""Opens a workspace as the command line found it, and as the answers about trust leave it."""

from pathlib import Path
from typing import TYPE_CHECKING

from agent.cli.launch import LaunchOptions
from foundation.paths import Workspace

if TYPE_CHECKING:  # loaded after first paint
    from agent.session import Session


class Opening:
    """The options of the command line; `trust` and `follow` replace them."""

    def __init__(self, options: LaunchOptions) -> None:
        self._options = options

    @property
    def workspace(self) -> Workspace:
        return self._options.workspace

    def links(self) -> tuple[tuple[str, str], ...]:
        """Unanswered links out of the workspace: name, target."""
        return self._options.links

    def trust(self) -> Workspace:
        """Trusts the workspace. Blocks."""
        if self._options.trust is not None:
            self._options = self._options.trust()
        return self._options.workspace

    def follow(self, link: str, allow: bool) -> None:
        """Stores whether a link is followed. Blocks."""
        if (follow_link := self._options.follow) is not None:
            self._options = follow_link(link, allow)

    def open_session(self) -> "Session":
        """Opens the session with these options. Blocks."""
        from agent.cli.facts import facts
        from agent.services.foreign_deletion import ForeignDeletions
        from agent.services.forget import finish_pending
        from agent.session import Session

        options = self._options
        had_database = options.workspace.database.exists()
        session = Session.open(
            options.workspace,
            options.config,
            facts=facts,
            project=options.project or (Path.cwd(),),
            reads_when_full=True,
        )
        session.jobs.sync.deletions = ForeignDeletions(session.memory)
        finish_pending(session.memory, session.jobs.warn)
        if had_database and (lost := session.memory.database_lost()):  # else the command line has said so
            session.jobs.warn(lost)
        session.permissions.start(options.mode, options.rules)
        return session
