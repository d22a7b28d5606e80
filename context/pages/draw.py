"""Drawing of a page in view from exact text: the image and its caption."""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.pages.layout import ChapterText, ShownTextOf, fit_sheet, page_caption, texts_of
from context.pages.recipe import PageRecipe
from memory.errors import Damaged
from memory.pages.cost.gate import compress_png
from memory.pages.render.modes import DENSE, mode_named
from memory.pages.render.page import PageSheet, render_page
from memory.records import Entry
from models.messages import Image, Text

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
PageParts = tuple[Image, Text]


class DrawablePage(Struct, frozen=True):
    """A laid-out page: its id, its chapter's texts, and its sheet."""

    id: str
    texts: Sequence[ChapterText]
    sheet: PageSheet


def draw_page(recipe: PageRecipe, entries: Mapping[int, Entry], text_of: ShownTextOf) -> PageParts:
    """Draws the page; the same recipe and text give the same bytes.

    Raises Damaged where an entry changed, MemoryFailure where one cannot be read.
    """
    page = lay_out(recipe, entries, text_of)
    side = page.sheet.mode.side
    picture = Image(compress_png(render_page(page.sheet, page.id, 1).png), "image/png", side, side, f"page {page.id}")
    return picture, Text(page_caption(page.texts, recipe.shown, recipe.most, recipe.facts), injected="page")


def lay_out(recipe: PageRecipe, entries: Mapping[int, Entry], text_of: ShownTextOf) -> DrawablePage:
    """Lays the page out without drawing it. Raises the same errors as `draw_page`."""
    if any(seq not in entries for seq in recipe.chapter.entries):
        raise Damaged("A page in view", "An entry on it no longer exists.", "The next request is made without it.")
    texts = texts_of(recipe.chapter, entries, text_of)
    mode = mode_named(recipe.mode, dense=recipe.cell == DENSE.name)
    sheet = fit_sheet(texts, mode, recipe.shown, recipe.most)
    if sheet is None:
        raise Damaged("A page in view", "Its content has changed.", "The next request is made with a new one.")
    return DrawablePage(page_id(sheet), texts, sheet)


def page_id(sheet: PageSheet) -> str:
    """Page id derived from the page's text and size, the same in every process."""
    digest = hashlib.sha256(f"{sheet.mode.name}/{sheet.mode.cell.name}\0{sheet.text}".encode("utf-8", "surrogatepass"))
    number = int.from_bytes(digest.digest()[:8], "big")
    return "pg_" + "".join(_DIGITS[number // 36**digit % 36] for digit in range(12))
