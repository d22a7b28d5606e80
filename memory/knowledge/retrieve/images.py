"""Stores pictures unchanged, and scales pages and pictures down for a vision model."""

import hashlib
import stat
from collections.abc import Collection, Iterable
from io import BytesIO
from pathlib import Path

import apsw

from foundation.files import child, exists, make_private_folder, read_bytes, remove, scan, touch, write_atomically
from memory.archive.vault import Vault
from memory.cold import ColdStore
from memory.cold.file_places import spots
from memory.errors import Damaged
from memory.knowledge import rows
from memory.knowledge.readers.document import DocumentImage
from memory.knowledge.records import DocumentView, KnowledgeRecord
from memory.knowledge.retrieve.select import PageCost, PageViewer
from memory.pages.render.modes import MODES
from memory.search import Hit
from models.messages import Image


def keep(folder: Path, pictures: Iterable[DocumentImage]) -> list[str]:
    """Writes each as `<sha256><suffix>`, once, and gives the names."""
    names = list[str]()
    for picture in pictures:
        names.append(f"{hashlib.sha256(picture.data).hexdigest()}{picture.suffix}")
        path = child(folder, names[-1])
        if exists(path):
            touch(path)  # so that no sweep deletes it as a leftover
        else:
            make_private_folder(folder)
            write_atomically(path, picture.data)
    return names


def sweep(folder: Path, wanted: Collection[str], before: float) -> None:
    """Deletes pictures without a memory, which an interrupted deletion left. Files younger than `before` stay: another
    process may be adding theirs."""
    for path, found in scan(folder):
        if path.name not in wanted and stat.S_ISREG(found.st_mode) and found.st_mtime < before:
            remove(path, missing_ok=True)


def read_stored_image(folder: Path, name: str) -> bytes:
    """The stored picture, byte for byte. Raises Damaged where it is missing or was changed."""
    try:
        data = read_bytes(child(folder, name))
    except OSError as error:
        raise Damaged("A stored picture is missing", f"{folder / name}: {error.strerror}.", _AGAIN) from error
    if hashlib.sha256(data).hexdigest() != name.partition(".")[0]:
        raise Damaged("A stored picture is damaged", f"{folder / name} was changed or damaged.", _AGAIN)
    return data


def mode_of(width: int, height: int) -> str:
    """The smallest mode that holds a picture of that size; large for any beyond."""
    side = max(width, height)
    return next((name for name, mode in MODES.items() if mode.side >= side), "large")


def scale_to_mode(data: bytes, mode: str, name: str) -> Image:
    """The picture for a model: scaled down to the mode's side where it is larger, else unchanged."""
    from PIL import Image as Pillow

    side = MODES[mode].side
    with Pillow.open(BytesIO(data)) as opened:
        media_type = Pillow.MIME.get(opened.format or "", "image/png")
        if max(opened.size) <= side and media_type in {"image/png", "image/jpeg"}:
            return Image(data, media_type, *opened.size, name)
        picture = opened.convert("L" if opened.mode in {"1", "L"} else "RGB")
    picture.thumbnail((side, side), Pillow.Resampling.LANCZOS)
    out = BytesIO()
    picture.save(out, "PNG")
    return Image(out.getvalue(), "image/png", *picture.size, name)


_AGAIN = "Add the file again, or restore it from a backup of the workspace."


class HitImageFinder:
    """Finds the picture behind a hit: a stored one, or the page that holds the passage."""

    def __init__(self, cold: ColdStore, vault: Vault, folder: Path) -> None:
        self._cold = cold
        self._vault = vault
        self._folder = folder

    def viewer(self, cost: PageCost) -> PageViewer:
        """These lookups as a `PageViewer`."""
        return PageViewer(self._view, self._picture, self._words, cost)

    def _view(self, hit: Hit, known: KnowledgeRecord) -> DocumentView | None:
        def read(db: apsw.Connection) -> DocumentView | None:
            at = spots(db, known.conversation, hit.entry or 0, *hit.text_span)[0]
            return rows.view_at(db, known.seq, at.offset)

        return self._cold.read(read)

    def _picture(self, hit: Hit, known: KnowledgeRecord, view: DocumentView, mode: str) -> Image:
        """From the exact page each time, never from one that was made smaller before."""
        name = f"{known.name}, {hit.citation.place}" if hit.citation.place else known.name
        data = read_stored_image(self._folder, view.picture) if view.picture else self._page(hit)
        return scale_to_mode(data, mode, name)

    def _words(self, hit: Hit) -> str:
        return self._vault.entry_text(self._cold.entry(hit.entry)).text if hit.entry is not None else hit.snippet

    def _page(self, hit: Hit) -> bytes:
        return read_bytes(self._vault.png(hit.citation.page))
