"""Draws a page in view from exact text: the picture, and the words that go with it."""

import hashlib
from collections.abc import Mapping, Sequence

from context.fence import fenced
from context.resident.choosing import joined
from context.resident.layout import Text as Said
from context.resident.layout import WordsOf, fitting, texts_of
from context.resident.recipe import Recipe
from memory.archive.deflated import deflated
from memory.archive.factsheet import factsheet
from memory.archive.modes import DENSE, mode_named
from memory.archive.page import Sheet, draw
from memory.cold.entries import Entry
from memory.errors import Damaged
from models.messages import Image, Text

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
Drawn = tuple[Image, Text]


def drawn(recipe: Recipe, entries: Mapping[int, Entry], words: WordsOf) -> Drawn:
    """The same bytes for the same recipe and words. Raises Damaged where an entry is not what it was, MemoryTrouble."""
    if any(seq not in entries for seq in recipe.chapter.entries):
        raise Damaged("A page in view", "An entry that it showed is gone.", "The next request is made without it.")
    texts = texts_of(recipe.chapter, entries, words)
    mode = mode_named(recipe.mode, dense=recipe.cell == DENSE.name)
    sheet = fitting(texts, mode, recipe.shown, recipe.most)
    if sheet is None:
        raise Damaged("A page in view", "What it showed has changed.", "The next request is made with a new one.")
    side = sheet.mode.side
    picture = Image(deflated(draw(sheet, page_id(sheet), 1).png), "image/png", side, side, f"page {page_id(sheet)}")
    return picture, Text(_beside(recipe, texts), injected="page")


def page_id(sheet: Sheet) -> str:
    """An id that the page's own words and size make, so that every process gives it the same."""
    hashed = hashlib.sha256(f"{sheet.mode.name}/{sheet.mode.cell.name}\0{sheet.text}".encode("utf-8", "surrogatepass"))
    number = int.from_bytes(hashed.digest()[:8], "big")
    return "pg_" + "".join(_LETTERS[number // 36**place % 36] for place in range(12))


def _beside(recipe: Recipe, texts: Sequence[Said]) -> str:
    """When, which entries, how much of them, and the exact tokens."""
    first, last = texts[0].entry, texts[-1].entry
    days = f"{first.time:%Y-%m-%d}", f"{last.time:%Y-%m-%d}"
    when = days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"
    which = first.id if first is last else f"{first.id} to {last.id}"
    cut = "" if recipe.whole else f"; {len(recipe.shown)} of {len(texts)} entries, shortened"
    facts = joined(factsheet("\n".join(text.part for text in texts), recipe.facts))
    exact = f"\nExact: {facts}" if facts else ""
    return fenced(f"The page above: {when}, {which}{cut}.{exact}")
