"""Cache of passages read back from their pages, and of analysed snippets, bounded by size and dropped on change.

A memory has one, which its search, its recall and the screen share. The least recently used value goes first; values
of an entry that was changed or deleted, by any process, are dropped before the next read.
"""

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Final, TypeVar, cast

from foundation.trust import Trust
from memory.cold import ColdStore
from memory.pages.types import EntryText
from memory.records import Entry

T = TypeVar("T")
MOST_BYTES: Final = 16 * 1024 * 1024
_MOST_CHANGES: Final = 2000  # more than that, as after an import: the whole cache is cleared


class PassageCache:
    """Values by key, each with an owner: an entry's seq or a note's id. Safe to use from any thread.

    `read` gives the passage of an entry that is not cached.
    """

    def __init__(self, cold: ColdStore, read: Callable[[Entry], EntryText], most: int = MOST_BYTES) -> None:
        self._cold = cold
        self._read = read
        self._most = most
        self._lock = Lock()
        self._values: OrderedDict[Hashable, tuple[object, int, Hashable]] = OrderedDict()
        self._keys_of: dict[Hashable, set[Hashable]] = {}
        self._version: int | None = None
        self._change = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[Hashable]:
        """The cached keys, the least recently used first."""
        with self._lock:
            return list(self._values)

    def passage(self, entry: Entry) -> EntryText:
        """The current text of the entry. Raises NotFound where it was deleted, and Damaged."""
        if entry.text is not None:
            return self._read(entry)
        self.refresh()
        return self.passage_as_of_refresh(entry)

    def passage_as_of_refresh(self, entry: Entry) -> EntryText:
        """The same as of the last `refresh`, for a reader of many passages that refreshed at its start.

        Only exact passages of pages are cached: a text in its row costs nothing, and a damaged page may be repaired.
        """
        if entry.text is not None:
            return self._read(entry)
        found = self.get(("passage", entry.seq), entry.seq, _passage_bytes, lambda: self._read(entry))
        if found.trust is not Trust.EXACT:
            self.drop(entry.seq)
        return found

    def get(self, key: Hashable, owner: Hashable, size: int | Callable[[T], int], make: Callable[[], T]) -> T:
        """The cached value, else the result of `make`, of about `size` bytes. Raises the errors of `make`."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return cast("T", self._values[key][0])
            change = self._change
        value = make()
        with self._lock:
            if change == self._change:  # else it may have been made of text that is deleted by now
                self._put(key, owner, size(value) if callable(size) else size, value)
        return value

    def drop(self, owner: Hashable) -> None:
        """Drops all values of the owner."""
        with self._lock:
            self._drop(owner)

    def refresh(self) -> None:
        """Drops what this process or another changed or deleted since the last refresh."""
        version = self._cold.data_version()
        with self._lock:
            if version == self._version:
                return
            change = self._cold.last_change()
            if self._version is not None and 0 <= change - self._change <= _MOST_CHANGES:
                for changed in self._cold.changes(self._change, _MOST_CHANGES):
                    self._drop(changed.entry)
            else:
                self._clear()
            self._version, self._change = version, change

    def clear(self) -> None:
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._values.clear()
        self._keys_of.clear()
        self.bytes = 0

    def _put(self, key: Hashable, owner: Hashable, size: int, value: Any) -> None:
        if size > self._most // 4:
            return
        self._remove(key)
        self._values[key] = value, size, owner
        self._keys_of.setdefault(owner, set()).add(key)
        self.bytes += size
        while self.bytes > self._most:
            self._remove(next(iter(self._values)))

    def _drop(self, owner: Hashable) -> None:
        for key in list(self._keys_of.get(owner, ())):
            self._remove(key)

    def _remove(self, key: Hashable) -> None:
        if key not in self._values:
            return
        _, size, owner = self._values.pop(key)
        self.bytes -= size
        self._keys_of[owner].discard(key)
        if not self._keys_of[owner]:
            del self._keys_of[owner]


def _passage_bytes(passage: EntryText) -> int:
    return sys.getsizeof(passage.text) + 500
