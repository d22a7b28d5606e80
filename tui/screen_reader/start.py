"""What the chat in lines begins with."""

from collections.abc import Callable

from msgspec import Struct

from agent.cli.launch import LaunchOptions
from foundation.paths import Workspace
from tui.session_opener import Opening


class LineStart(Struct, frozen=True, kw_only=True):
    """What the chat in lines begins with (agent.services.opening_questions.OpeningTrust)."""

    options: LaunchOptions
    opening: Opening
    reason: str  # what asked for lines
    contents: tuple[str, ...]
    changes: tuple[str, ...]
    trust: Callable[[], Workspace] | None
    untrusted_notice: str
    links: Callable[[], tuple[tuple[str, str], ...]]
    follow: Callable[[str, bool], None]
