"""Drafts of one window: a window holds a lock on what it writes, so that no other open window takes it over."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

from agent.services.drafts import DRAFTS_AT_MOST, Draft, Drafts, numbered
from foundation.files import FileLock, LockTimeout, child, make_private_folder, remove
from foundation.paths import draft_name

_LOCKS: Final = "locks"  # the folder of lock files, in that of the drafts


class WindowDrafts:
    """Gives each window a draft of its own per conversation; a draft whose window has ended belongs to the next one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._drafts = Drafts(folder)
        self._held: dict[str, tuple[str, FileLock]] = {}  # by conversation: the name of its draft, and the lock on it
        self._guard = threading.Lock()

    def load(self, conversation: str) -> Draft:
        """The first draft that no other window has, from now on this window's; an empty one where there is none.

        Raises OSError and PalimpsestError.
        """
        with self._guard:
            if conversation in self._held:
                return self._drafts.load(self._held[conversation][0])
            for name in filter(self._drafts.has, numbered(conversation)):
                try:
                    is_free = self._take(conversation, name)
                except OSError:  # a file system that refuses locks, as a read-only one
                    is_free = True
                if is_free:
                    return self._drafts.load(name)
            return Draft()

    def save(self, conversation: str, text: str, rewrites: str = "") -> None:
        """Saves this window's draft; an empty one is deleted, and its name is free again. Raises OSError."""
        with self._guard:
            if conversation in self._held:
                self._drafts.save(self._held[conversation][0], text, rewrites)
                if not text.strip():
                    self._free(conversation)
            elif text.strip():
                self._drafts.save(self._free_name(conversation), text, rewrites)

    def release(self) -> None:
        """Leaves the drafts to the next window. Call it where this one ends or goes to another conversation."""
        with self._guard:
            for conversation in list(self._held):
                self._free(conversation)

    def _free_name(self, conversation: str) -> str:
        """A name that no window has and that holds no draft, held from now on."""
        for name in numbered(conversation):
            if not self._drafts.has(name) and self._take(conversation, name):
                return name
        raise OSError(f"this conversation has {DRAFTS_AT_MOST} drafts; send or clear one in its window")

    def _take(self, conversation: str, name: str) -> bool:
        """Takes the lock on a draft; False where another window holds it."""
        folder = child(self._folder, _LOCKS)
        make_private_folder(folder)
        lock = FileLock(child(folder, f"{draft_name(name)}.lock"), timeout=0)
        try:
            lock.acquire()
        except LockTimeout:
            return False
        self._held[conversation] = (name, lock)
        return True

    def _free(self, conversation: str) -> None:
        _, lock = self._held.pop(conversation)
        with suppress(OSError):  # Windows removes no file that is open; a folder may have been deleted
            remove(lock.path, missing_ok=True)
        lock.release()
