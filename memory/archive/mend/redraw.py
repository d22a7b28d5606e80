"""A lost page drawn again, where its text is kept beside the archive and still has the page's hash."""

from pathlib import Path

from memory.archive.keep.kept_reading import kept_page
from memory.archive.packs.pack import Picture
from memory.pages.render.blocks import Stretch
from memory.pages.render.modes import MODES, mode_named
from memory.pages.render.page import draw, sheets


def redrawn(folder: Path | None, label: str, start: int, page: Picture, cell: str) -> Picture | None:
    """The page that `page` tells of but has no PNG for; `start` is where it begins in the text kept under `label`.

    None where no kept text has that hash.
    """
    if folder is None or page.mode not in MODES:
        return None
    text = kept_page(folder, label, start, page.chars, page.sha256)
    if text is None:
        return None
    sheet = next(iter(sheets([Stretch(text)], mode_named(page.mode, cell == "6x12"))))
    if sheet.text != text:
        return None
    png = draw(sheet, page.id, page.number).png
    return Picture(page.id, page.number, page.mode, page.chars, page.sha256, png)
