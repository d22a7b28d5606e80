"""Hot fragments: passages read back from their pages and snippets taken apart, kept in memory for the next question.

One store of them for a cold store, so that search, recall and the screen share what any of them has read. What was
used longest ago goes first; what its entry's change made old, or a deletion took, goes with the next `keep_up`.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from foundation.trust import Trust
from memory.cold import ColdStore
from memory.pages.types import Passage
from memory.records import Entry

T = TypeVar("T")
MOST_BYTES = 32 * 1024 * 1024
_MOST_CHANGES = 2000  # more than that, as after an import: all is let go
_all: WeakKeyDictionary[ColdStore, "Fragments"] = WeakKeyDictionary()
_opening = Lock()


def fragments_of(cold: ColdStore) -> "Fragments":
    """The fragments of this store."""
    with _opening:
        if cold not in _all:
            _all[cold] = Fragments()
        return _all[cold]


class Fragments:
    """Values by key, each of an owner: an entry's seq, or a note's id. Safe to use from any thread."""

    def __init__(self, most: int = MOST_BYTES) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, tuple[object, int, Hashable]] = OrderedDict()
        self._of: dict[Hashable, set[Hashable]] = {}
        self._version: int | None = None
        self._change = 0
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def keys(self) -> list[Hashable]:
        """What is kept, the longest unused first."""
        with self._lock:
            return list(self._kept)

    def get(self, key: Hashable, owner: Hashable, size: int, make: Callable[[], T]) -> T:
        """What is kept under the key, or made now; about `size` bytes large. What `make` raises is raised."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return cast("T", self._kept[key][0])
            change = self._change
        value = make()
        with self._lock:
            if change == self._change:  # what was made of words that are gone meanwhile is not kept
                self._put(key, owner, size, value)
        return value

    def passage(self, entry: Entry, read: Callable[[Entry], Passage]) -> Passage:
        """The entry's text. One that stands in its row is at hand already; one that is exact on its pages is kept."""
        if entry.text is not None:
            return read(entry)
        key = "passage", entry.seq
        found = self.get(key, entry.seq, 4 * entry.chars + 200, lambda: read(entry))
        if found.trust is not Trust.EXACT:  # what is damaged may be mended by the next time
            self.drop(entry.seq)
        return found

    def drop(self, owner: Hashable) -> None:
        """Lets go of all that is the owner's."""
        with self._lock:
            self._drop(owner)

    def keep_up(self, cold: ColdStore) -> None:
        """Lets go of what was changed or removed since, by this process or another."""
        version = cold.data_version()
        with self._lock:
            if version == self._version:
                return
            change = cold.last_change()
            if self._version is not None and 0 <= change - self._change <= _MOST_CHANGES:
                for one in cold.changes(self._change, _MOST_CHANGES):
                    self._drop(one.entry)
            else:
                self._clear()
            self._version, self._change = version, change

    def clear(self) -> None:
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._kept.clear()
        self._of.clear()
        self.bytes = 0

    def _put(self, key: Hashable, owner: Hashable, size: int, value: Any) -> None:
        if size > self._most // 4:
            return
        self._remove(key)
        self._kept[key] = value, size, owner
        self._of.setdefault(owner, set()).add(key)
        self.bytes += size
        while self.bytes > self._most:
            self._remove(next(iter(self._kept)))

    def _drop(self, owner: Hashable) -> None:
        for key in list(self._of.get(owner, ())):
            self._remove(key)

    def _remove(self, key: Hashable) -> None:
        if key not in self._kept:
            return
        _, size, owner = self._kept.pop(key)
        self.bytes -= size
        self._of[owner].discard(key)
        if not self._of[owner]:
            del self._of[owner]
