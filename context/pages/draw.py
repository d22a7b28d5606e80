"""Draws a page in view from exact text: the picture, and the text beside it."""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.pages.layout import ChapterText, WordsOf, fit_sheet, texts_of, words_beside
from context.pages.recipe import PageRecipe
from memory.errors import Damaged
from memory.pages.cost.gate import compress_png
from memory.pages.render.modes import DENSE, mode_named
from memory.pages.render.page import PageSheet, render_page
from memory.records import Entry
from models.messages import Image, Text

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
PageParts = tuple[Image, Text]


class DrawablePage(Struct, frozen=True):
    """A laid-out page: its id, its chapter's texts, and its sheet."""

    id: str
    texts: Sequence[ChapterText]
    sheet: PageSheet


def draw_page(recipe: PageRecipe, entries: Mapping[int, Entry], words: WordsOf) -> PageParts:
    """Draws the page; the same recipe and text give the same bytes. Raises Damaged where an entry changed,
    MemoryFailure."""
    page = lay_out(recipe, entries, words)
    side = page.sheet.mode.side
    picture = Image(compress_png(render_page(page.sheet, page.id, 1).png), "image/png", side, side, f"page {page.id}")
    return picture, Text(words_beside(page.texts, recipe.shown, recipe.most, recipe.facts), injected="page")


def lay_out(recipe: PageRecipe, entries: Mapping[int, Entry], words: WordsOf) -> DrawablePage:
    """Lays the page out without drawing it. Raises Damaged where an entry changed, MemoryFailure."""
    if any(seq not in entries for seq in recipe.chapter.entries):
        raise Damaged("A page in view", "An entry that it showed is gone.", "The next request is made without it.")
    texts = texts_of(recipe.chapter, entries, words)
    mode = mode_named(recipe.mode, dense=recipe.cell == DENSE.name)
    sheet = fit_sheet(texts, mode, recipe.shown, recipe.most)
    if sheet is None:
        raise Damaged("A page in view", "What it showed has changed.", "The next request is made with a new one.")
    return DrawablePage(page_id(sheet), texts, sheet)


def page_id(sheet: PageSheet) -> str:
    """An id derived from the text and size of the page, the same in every process."""
    hashed = hashlib.sha256(f"{sheet.mode.name}/{sheet.mode.cell.name}\0{sheet.text}".encode("utf-8", "surrogatepass"))
    number = int.from_bytes(hashed.digest()[:8], "big")
    return "pg_" + "".join(_LETTERS[number // 36**place % 36] for place in range(12))
