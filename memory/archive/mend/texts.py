"""Entries' texts put together from the pages of packs, by facts alone."""

from collections import OrderedDict
from collections.abc import Mapping

from foundation.trust import Trust
from memory.archive.mend.differences import Fields, Key
from memory.archive.packs.pack import Pack
from memory.archive.packs.storage import Storage
from memory.cold import ColdStore
from memory.cold.encoding import readable_meta
from memory.cold.records import Terms
from memory.errors import MemoryTrouble
from memory.pages.read.reader import read_picture
from memory.pages.render.header import digest

_REMEMBERED = 256  # pages


class Texts:
    """Reads each page once while its neighbours are asked for."""

    def __init__(self, storage: Storage, facts: Mapping[Key, Fields]) -> None:
        self._storage = storage
        self._facts = facts
        self._pages: OrderedDict[str, str | None] = OrderedDict()
        self._packs: dict[str, Pack] = {}

    def terms_of(self, cold: ColdStore, entry: Fields) -> Terms | None:
        """The entry's terms; None where its text cannot be read to the letter."""
        text = self.of(entry)
        return None if text is None else cold.analyse(text, entry["speaker"], readable_meta(entry["meta"]))

    def of(self, entry: Fields) -> str | None:
        """The entry's text, where it has the hash that the fact says."""
        parts = [(self._page(page), at, length) for _, length, page, at in entry["spans"]]
        if any(text is None for text, _, _ in parts):
            return None
        text = "".join((text or "")[at : at + length] for text, at, length in parts)
        return text if digest(text).hex() == entry["sha256"] else None

    def _page(self, id_: str) -> str | None:
        if id_ not in self._pages:
            self._pages[id_] = self._read(id_)
            if len(self._pages) > _REMEMBERED:
                self._pages.popitem(last=False)
        return self._pages[id_]

    def _read(self, id_: str) -> str | None:
        fact = self._facts.get(("page", id_))
        if fact is None:
            return None
        try:
            pack = self._packs.get(fact["pack"])
            if pack is None:
                pack = self._packs[fact["pack"]] = Pack(self._storage, fact["pack"])
            page = read_picture(pack.png(fact["position"]), sha256=fact["sha256"], page_id=id_, engine="cells")
        except MemoryTrouble:
            return None
        return page.text if page.trust is Trust.EXACT else None
