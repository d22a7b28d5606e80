"""Sentences for the person: kept in memory, and in a file where a session ends before anybody reads them."""

from pathlib import Path
from typing import Final

import msgspec

from foundation.files import FileTooLarge, read_bytes, remove, write_atomically
from foundation.typed_json import decode_json

_MOST: Final = 100  # sentences in the file
_MOST_BYTES: Final = 1_000_000


class Notices:
    """The sentences that nobody has read; `path` holds those of sessions that have ended. Methods that use the file
    are called with the lock of the checkpoints held, and raise OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._unread: list[str] = []

    def __bool__(self) -> bool:
        """Whether this session has any."""
        return bool(self._unread)

    def add(self, sentence: str) -> None:
        if sentence not in self._unread:
            self._unread.append(sentence)

    def take(self) -> tuple[str, ...]:
        """Those of this session; each is given once."""
        taken, self._unread = tuple(self._unread), []
        return taken

    def store(self) -> None:
        """Moves those of this session to the file."""
        write_atomically(self.path, msgspec.json.encode([*self._stored(), *self._unread][-_MOST:]))
        self._unread = []

    def load(self) -> None:
        """Moves those of the file to this session."""
        stored = self._stored()
        remove(self.path, missing_ok=True)
        self._unread = [*stored, *self._unread]

    def _stored(self) -> list[str]:
        try:
            return decode_json(read_bytes(self.path, most=_MOST_BYTES, owned=True), list[str])
        except (FileNotFoundError, FileTooLarge, msgspec.DecodeError):
            return []
