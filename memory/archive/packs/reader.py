"""The packs, open for reading: their lists and the frames lately unpacked are kept, so that neighbours are free."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memory.archive.packs.storage import Storage
from memory.errors import Damaged
from memory.pages.types import PageRow

if TYPE_CHECKING:
    from memory.archive.packs.pack import Pack

K = TypeVar("K")
V = TypeVar("V")

_PACKS = 32  # lists of pages: some 100 kB each
_FRAMES = 3  # of 64 pages, 8 to 13 MB each


class PageReader:
    """Pages' PNGs by their rows. Methods may be called from any thread."""

    def __init__(self, storage: Storage, fresh: Callable[[str], PageRow]) -> None:
        """`fresh` gives a page's row as it is now: another process may have moved the page to another pack."""
        self._storage = storage
        self._fresh = fresh
        self._lock = threading.Lock()
        self._packs: OrderedDict[str, Pack] = OrderedDict()
        self._frames: OrderedDict[tuple[str, int], bytes] = OrderedDict()

    def png(self, row: PageRow) -> bytes:
        """The page as it stands in its pack. Raises Damaged; NotFound where the page was deleted meanwhile."""
        while True:
            try:
                return self._png(row)
            except Damaged:
                now = self._fresh(row.id)
                if now.pack == row.pack:
                    raise
                row = now  # its old pack went, and it stands in another

    def forget(self, pack: str) -> None:
        """The pack is gone, or another file stands in its place."""
        with self._lock:
            self._packs.pop(pack, None)
            for key in [key for key in self._frames if key[0] == pack]:
                del self._frames[key]

    def _png(self, row: PageRow) -> bytes:
        pack = self._pack(row.pack)
        pack.expect(row.position, row.id)
        frame = pack.frame_of(row.position)
        key = (row.pack, frame.offset)
        with self._lock:
            held = self._frames.get(key)
        if held is None:
            held = pack.unpacked(frame)
            if pack.pages[row.position].size < len(held):  # it has neighbours
                self._keep(self._frames, key, held, _FRAMES)
        return pack.cut(row.position, held)

    def _pack(self, name: str) -> "Pack":
        with self._lock:
            pack = self._packs.get(name)
        if pack is None:
            from memory.archive.packs.pack import Pack

            pack = Pack(self._storage, name)
            self._keep(self._packs, name, pack, _PACKS)
        return pack

    def _keep(self, kept: "OrderedDict[K, V]", key: K, value: V, most: int) -> None:
        with self._lock:
            kept[key] = value
            kept.move_to_end(key)
            while len(kept) > most:
                kept.popitem(last=False)
