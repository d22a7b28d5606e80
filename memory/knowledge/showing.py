"""Pages and pictures as a model that sees is shown them."""

from pathlib import Path

import apsw

from foundation.files import read_bytes
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.file_places import spots
from memory.knowledge import pictures, rows
from memory.knowledge.known import Known, View
from memory.knowledge.picking import Cost, Eye
from memory.search import Hit
from models.messages import Image


class Shower:
    """Finds the picture behind a hit: one that was kept, or the page that the words stand on."""

    def __init__(self, cold: ColdStore, vault: Vault, folder: Path) -> None:
        self._cold = cold
        self._vault = vault
        self._folder = folder

    def eye(self, cost: Cost) -> Eye:
        """The same, as picking asks for it."""
        return Eye(self._view, self._picture, self._words, cost)

    def _view(self, hit: Hit, known: Known) -> View | None:
        def read(db: apsw.Connection) -> View | None:
            at = spots(db, known.conversation, hit.entry or 0, *hit.text_span)[0]
            return rows.view_at(db, known.seq, at.offset)

        return self._cold.read(read)

    def _picture(self, hit: Hit, known: Known, view: View, mode: str) -> Image:
        """From the exact page each time, never from one that was made smaller before."""
        name = f"{known.name}, {hit.citation.place}" if hit.citation.place else known.name
        data = pictures.kept(self._folder, view.picture) if view.picture else self._page(hit)
        return pictures.shown(data, mode, name)

    def _words(self, hit: Hit) -> str:
        return self._vault.entry_text(self._cold.entry(hit.entry)).text if hit.entry is not None else hit.snippet

    def _page(self, hit: Hit) -> bytes:
        return read_bytes(self._vault.png(hit.citation.page))
