"""Reads pages from packs. Caches page lists and recently unpacked frames: neighbours of a page cost nothing."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from memory.archive.packs.pack import FramePages, Pack
from memory.archive.packs.storage import Storage
from memory.errors import Damaged
from memory.pages.types import PageRow

K = TypeVar("K")
V = TypeVar("V")

_PACKS = 32  # lists of pages: some 100 kB each
_FRAMES = 3  # of 64 pages: half a megabyte to a megabyte each, 8 to 13 MB in packs of version 1


class PageReader:
    """Pages' PNGs by their rows. Methods may be called from any thread."""

    def __init__(self, storage: Storage, fresh: Callable[[str], PageRow]) -> None:
        """`fresh` reads a page's current row: another process may have moved the page to another pack."""
        self._storage = storage
        self._fresh = fresh
        self._lock = threading.Lock()
        self._packs: OrderedDict[str, Pack] = OrderedDict()
        self._frames: OrderedDict[tuple[str, int], FramePages] = OrderedDict()

    def png(self, row: PageRow) -> bytes:
        """The page's PNG. Raises Damaged; NotFound where the page was deleted meanwhile."""
        while True:
            try:
                return self._png(row)
            except Damaged:
                current = self._fresh(row.id)
                if current.pack == row.pack:
                    raise
                row = current  # moved to another pack

    def forget(self, pack: str) -> None:
        """Drops a pack from the cache: it was deleted or replaced."""
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
            pages = self._frames.get(key)
        if pages is None:
            pages = pack.open_frame(frame)
            if len(pages) > 1:
                self._cache(self._frames, key, pages, _FRAMES)
        return pack.page_of_frame(row.position, pages)

    def _pack(self, name: str) -> Pack:
        with self._lock:
            pack = self._packs.get(name)
        if pack is None:
            pack = Pack(self._storage, name)
            self._cache(self._packs, name, pack, _PACKS)
        return pack

    def _cache(self, cache: "OrderedDict[K, V]", key: K, value: V, limit: int) -> None:
        with self._lock:
            cache[key] = value
            cache.move_to_end(key)
            while len(cache) > limit:
                cache.popitem(last=False)
