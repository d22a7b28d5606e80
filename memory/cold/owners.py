"""Ownership of in-progress answers, by a held lock file.

A process id may be reused; a lock cannot outlive its holder.
"""

import threading
from contextlib import suppress
from pathlib import Path

import apsw

from foundation.files import FileLock, is_lock_held, make_private_folder, remove
from foundation.names import OWNER
from memory.cold.sql import fetch
from memory.errors import ForgedName
from memory.names import vetted
from memory.records import AnswerOwner, new_id


class Owner:
    """The name and lock of one open store. `folder` is created with the first answer. With `read_only` none is held."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self._folder = folder
        self._read_only = read_only
        self._then: dict[str, AnswerOwner] | None = None
        self.name = new_id("w")
        self._lock: FileLock | None = None
        self._lock_guard = threading.Lock()

    def hold(self) -> str:
        """Takes the lock and returns the name; from then on `is_gone(name)` is False in every process."""
        with self._lock_guard:
            if self._lock is None:
                make_private_folder(self._folder)
                lock = FileLock(self._file(self.name), timeout=0)
                lock.acquire()
                self._lock = lock
        return self.name

    def is_gone(self, name: str) -> bool:
        """Whether the process that held `name` has ended."""
        return name != self.name and not is_lock_held(self._file(name))

    def answer_owner(self, name: str) -> AnswerOwner:
        """Who writes the answers in progress that `name` began, or wrote them at `stay_as_now`. Writes nothing.

        UNKNOWN for a read-only store that cannot read the lock, or where the name is forged. Others raise ForgedName.
        """
        if self._then is not None:
            return self._then.get(name, AnswerOwner.UNKNOWN)
        if name == self.name:
            return AnswerOwner.THIS
        try:
            return AnswerOwner.NONE if self.is_gone(name) else AnswerOwner.OTHER
        except (OSError, ForgedName):
            if self._read_only:
                return AnswerOwner.UNKNOWN
            raise

    def stay_as_now(self, connection: apsw.Connection) -> None:
        """Notes who writes which answers now: for a store whose later changes `connection` does not see."""
        names = list[str]()
        with suppress(apsw.Error, UnicodeDecodeError):  # a damaged table: the rest of the store can be read
            names = [str(name) for (name,) in fetch(connection, _OWNERS)]
        states = {name: self.answer_owner(name) for name in names}
        then = {AnswerOwner.OTHER: AnswerOwner.OTHER_AT_OPENING}
        self._then = {name: then.get(state, state) for name, state in states.items()}

    def forget(self, name: str) -> None:
        """Removes the lock file of an ended owner, unless another process has it open (Windows)."""
        with suppress(PermissionError):  # Windows removes no file that is open
            remove(self._file(name), missing_ok=True)

    def release(self) -> None:
        """Releases the lock."""
        with self._lock_guard:
            if self._lock is not None:
                self._lock.release()
                self.forget(self.name)
                self._lock = None

    def _file(self, name: str) -> Path:
        """The lock file of an owner. Raises ForgedName for a name that no store makes."""
        return self._folder / f"{vetted(OWNER, name, 'table answers')}.lock"


_OWNERS = "SELECT DISTINCT owner FROM (SELECT owner FROM answers LIMIT 1000) WHERE octet_length(owner) < 100"
"""One for each window with an answer in progress. More or longer names are forged, and not looked up."""
