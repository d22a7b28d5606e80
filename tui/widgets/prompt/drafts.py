"""What is being written, kept on disk as it is typed, so that no crash and no closed window loses it."""

from pathlib import Path
from typing import Final

from foundation.files import child, exists, make_private_folder, read_text, remove, write_atomically
from foundation.paths import draft_name
from foundation.privacy import clear
from foundation.terminal_text import visible

NEW: Final = "new"  # the draft of a conversation that has not begun


class Drafts:
    """A file a conversation. What is private stays out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, conversation: str, text: str) -> None:
        """Keeps the draft; an empty one is taken away. Raises OSError."""
        path = self._path(conversation)
        if not text.strip():
            remove(path, missing_ok=True)
            return
        make_private_folder(self._folder)
        write_atomically(path, clear(text))

    def load(self, conversation: str) -> str:
        """The draft, "" where there is none. Raises OSError and PalimpsestError."""
        path = self._path(conversation)
        return visible(read_text(path, owned=True)) if exists(path) else ""

    def _path(self, conversation: str) -> Path:
        return child(self._folder, draft_name(conversation))
