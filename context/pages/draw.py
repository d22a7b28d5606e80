"""Draws a page in view from exact text: the picture, and the words that go with it."""

import hashlib
from collections.abc import Mapping, Sequence

from msgspec import Struct

from context.pages.layout import ChapterText, WordsOf, fitting, texts_of, words_beside
from context.pages.recipe import PageRecipe
from memory.errors import Damaged
from memory.pages.cost.gate import deflated
from memory.pages.render.modes import DENSE, mode_named
from memory.pages.render.page import PageSheet, draw
from memory.records import Entry
from models.messages import Image, Text

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
PageParts = tuple[Image, Text]


class DrawablePage(Struct, frozen=True):
    """A page that could be drawn: its id, what its chapter says, and what stands where."""

    id: str
    texts: Sequence[ChapterText]
    sheet: PageSheet


def drawn(recipe: PageRecipe, entries: Mapping[int, Entry], words: WordsOf) -> PageParts:
    """The same bytes for the same recipe and words. Raises Damaged where an entry is not what it was, MemoryFailure."""
    page = laid(recipe, entries, words)
    side = page.sheet.mode.side
    picture = Image(deflated(draw(page.sheet, page.id, 1).png), "image/png", side, side, f"page {page.id}")
    return picture, Text(words_beside(page.texts, recipe.shown, recipe.most, recipe.facts), injected="page")


def laid(recipe: PageRecipe, entries: Mapping[int, Entry], words: WordsOf) -> DrawablePage:
    """The page before it is drawn. Raises Damaged where an entry is not what it was, MemoryFailure."""
    if any(seq not in entries for seq in recipe.chapter.entries):
        raise Damaged("A page in view", "An entry that it showed is gone.", "The next request is made without it.")
    texts = texts_of(recipe.chapter, entries, words)
    mode = mode_named(recipe.mode, dense=recipe.cell == DENSE.name)
    sheet = fitting(texts, mode, recipe.shown, recipe.most)
    if sheet is None:
        raise Damaged("A page in view", "What it showed has changed.", "The next request is made with a new one.")
    return DrawablePage(page_id(sheet), texts, sheet)


def page_id(sheet: PageSheet) -> str:
    """An id that the page's own words and size make, so that every process gives it the same."""
    hashed = hashlib.sha256(f"{sheet.mode.name}/{sheet.mode.cell.name}\0{sheet.text}".encode("utf-8", "surrogatepass"))
    number = int.from_bytes(hashed.digest()[:8], "big")
    return "pg_" + "".join(_LETTERS[number // 36**place % 36] for place in range(12))
