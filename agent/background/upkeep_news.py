"""What upkeep has to say to the person: kept on disk until a chat shows it, so that nothing is done silently."""

from contextlib import suppress

from foundation.errors import PalimpsestError
from foundation.paths import Workspace
from memory.upkeep.state import change_state, take_unshown, with_unshown


class UpkeepNews:
    """The sentences of one workspace. Blocks on the disk."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._is_new = not workspace.is_read_only  # an earlier session may have left some

    def put(self, *sentences: str) -> None:
        """Keeps the sentences, as far as they are not empty. Raises OSError."""
        if not any(sentences):
            return
        change_state(self._workspace, lambda state: with_unshown(state, *sentences))
        self._is_new = True

    def take(self) -> tuple[str, ...]:
        """The sentences that no chat has shown yet, each given once. Reads nothing where there is nothing new."""
        if not self._is_new:
            return ()
        with suppress(PalimpsestError, OSError):  # the next call tries again
            taken = take_unshown(self._workspace)
            self._is_new = False
            return taken
        return ()
