"""Edits to files that were just replaced: a program that had one open when a tool changed it may write to it later."""

from pathlib import Path
from typing import Final

from agent.checkpoints.change import ChangedFile, reason_of
from agent.checkpoints.conflicts import keep_beside
from agent.checkpoints.notices import Notices
from foundation.files.conditional import Outgoing
from memory.versions.objects import content_name

MOST_OPEN: Final = 64
"""Replaced files that are kept open; a shell of macOS lets a process have 256."""


class LateEdits:
    """Replaced files, still open. What is written to one is kept beside, below `folder`, and named in the notices."""

    def __init__(self, folder: Path, notices: Notices) -> None:
        self._folder = folder
        self._notices = notices
        self._open: list[tuple[str, ChangedFile, Outgoing]] = []

    def watch(self, checkpoint: str, file: ChangedFile, outgoing: Outgoing) -> None:
        """Takes the file that this checkpoint replaced, and lets the oldest one go where too many are open."""
        self._open.append((checkpoint, file, outgoing))
        self.keep(keep_open=MOST_OPEN)

    def keep(self, keep_open: int = 0) -> None:
        """Keeps what was written since, and lets all but the newest `keep_open` files go. Raises nothing: a full disk
        must not end a session."""
        seen = self._open[: max(0, len(self._open) - keep_open)]
        for checkpoint, file, outgoing in seen:
            if (body := outgoing.late_edit()) is not None:
                what = f"{file.path} was saved while a tool was changing it"
                try:
                    place = keep_beside(self._folder, f"{checkpoint}-{content_name(body)[:8]}", file, body)
                    self._notices.add(f"{what}; the text that was saved is {place}.")
                except OSError as error:
                    self._notices.add(f"{what}, and the text that was saved could not be kept: {reason_of(error)}.")
            outgoing.close()
        del self._open[: len(seen)]
