"""Pictures that look like our pages and cannot be read as such: turned, ruled like cells, with cells swapped."""

import io
from functools import cache

import numpy as np
from PIL import Image

from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import Mode, mode_named
from memory.pages.render.page import page_sheets, render_page

ENGLISH = "The quick brown fox jumps over the lazy dog, 1,024 times a day.\n\tif x != 0x1f: return {y[3]}\n" * 200
CHINESE = "敏捷的棕色狐狸跳过了懒狗。今天天气很好，我们一起去公园散步；记忆、页面与上下文。\n" * 300


@cache
def page(text: str, mode: Mode) -> Image.Image:
    """The first page of the text."""
    sheet = next(iter(page_sheets([LayoutText(text)], mode)))
    return Image.open(io.BytesIO(render_page(sheet, "pg_0123456789ab", 1).png)).convert("L")


def turned(degrees: float, text: str = CHINESE, mode: str = "large", *, dense: bool = False) -> Image.Image:
    """A page as a scanner gives it that was not fed straight."""
    whole = page(text, mode_named(mode, dense))
    return whole.rotate(degrees, resample=Image.Resampling.BICUBIC, expand=True, fillcolor=255)


def swapped(text: str = CHINESE, mode: str = "large", *, dense: bool = False) -> Image.Image:
    """A page with a sound header and two of its cells exchanged, so that its hash never agrees."""
    of = mode_named(mode, dense)
    pixels = np.asarray(page(text, of)).copy()
    lines, width = slice(10 * of.cell.height, 11 * of.cell.height), of.cell.width
    first, second = slice(2 * width, 4 * width), slice(8 * width, 10 * width)
    pixels[lines, first], pixels[lines, second] = pixels[lines, second].copy(), pixels[lines, first].copy()
    return Image.fromarray(pixels)


def ruled(side: int = 6300) -> Image.Image:
    """Forty million pixels of lines at the pitch of our cells."""
    pixels = np.full((side, side), 255, np.uint8)
    pixels[::16], pixels[:, ::8] = 0, 0
    return Image.fromarray(pixels)


def tiled(side: int = 2200) -> Image.Image:
    """A page's glyphs on its grid, for more columns than any page has, without a header."""
    cells = np.asarray(page(ENGLISH, mode_named("large")))[64:1264]
    return Image.fromarray(np.ascontiguousarray(np.tile(cells, (side // 1200 + 1, side // 1280 + 1))[:side, :side]))
