"""What the second reader makes of damaged pages: exact pages, wrong characters, time.

    python -m benchmarks.damage [--mode tiny] [--dense] [--kinds english,chinese] [--all] [--json]

A page of each kind of text is damaged in each way and read. CER is the edit distance over the length of the text that
the picture still has; time is CPU, of one reading with everything loaded. `--all` adds the damages that are read badly,
or as well as their neighbours.
"""

import argparse
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.pages import text
from foundation.trust import Trust
from memory.errors import NotAPage
from memory.pages.read.nearest.reader import read_nearest
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES, Mode, mode_named
from memory.pages.render.page import page_sheets, render_page

Damage = Callable[[Image.Image], bytes]
KERNELS = Image.Resampling


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.damage", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mode", choices=list(MODES), default="tiny")
    parser.add_argument("--dense", action="store_true", help="6×12 cells")
    parser.add_argument("--kinds", default="english,chinese")
    parser.add_argument("--all", action="store_true", help="every damage: some minutes more")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    mode = mode_named(options.mode, options.dense)
    pages = [a_page(kind, mode) for kind in options.kinds.split(",")]
    chosen = DAMAGES if options.all else {name: DAMAGES[name] for name in DAMAGES if name not in _MORE}
    read_nearest(_saved(_scaled(0.9)(pages[0][0])))  # the tables are loaded once
    rows = [{"damage": name, **measure(damage, pages, name.startswith("cut"))} for name, damage in chosen.items()]
    report = {"schema": 1, "mode": mode.name, "cell": mode.cell.name, "pages": len(pages), "rows": rows}
    print(json.dumps(report) if options.json else table(report))
    return 0


def a_page(kind: str, mode: Mode) -> tuple[Image.Image, str]:
    """The first page of words of that kind, and its text."""
    sheet = next(iter(page_sheets([LayoutText(text(kind, mode, 2))], mode)))
    return Image.open(io.BytesIO(render_page(sheet, "pg_0123456789ab", 1).png)).convert("L"), sheet.text


def measure(damage: Damage, pages: list[tuple[Image.Image, str]], lost: bool = False) -> dict[str, Any]:
    """Exact pages and wrong characters in per cent, milliseconds a page; `false` are exact ones that were not."""
    exact = false = wrong = length = 0
    spent = 0.0
    for picture, meant in pages:
        damaged = damage(picture)
        began = time.process_time()
        try:
            reading = read_nearest(damaged)
            said, trust = reading.text, reading.trust
        except NotAPage:
            said, trust = "", Trust.APPROXIMATE
        spent += time.process_time() - began
        exact += trust is Trust.EXACT
        false += trust is Trust.EXACT and said != meant
        left = meant[-len(said) :] if lost and said else meant  # the header's rows, and what followed, are gone
        wrong += edits(said, left)
        length += len(left)
    count = len(pages)
    return {
        "exact": round(100 * exact / count),
        "cer": round(100 * wrong / length, 2),
        "false": false,
        "ms": round(1000 * spent / count),
    }


def edits(one: str, other: str) -> int:
    """Levenshtein's distance, a row of the matrix at a time."""
    if one == other:
        return 0
    letters = np.frombuffer(other.encode("utf-32-le", "surrogatepass"), "<u4")
    steps = np.arange(len(letters) + 1)
    row = steps.copy()
    for n, letter in enumerate(np.frombuffer(one.encode("utf-32-le", "surrogatepass"), "<u4"), 1):
        best = np.concatenate([[n], np.minimum(row[1:] + 1, row[:-1] + (letters != letter))])
        row = np.minimum.accumulate(best - steps) + steps
    return int(row[-1])


def _saved(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def _scaled(factor: float, kernel: KERNELS = KERNELS.LANCZOS) -> Callable[[Image.Image], Image.Image]:
    return lambda page: page.resize((round(page.width * factor), round(page.height * factor)), kernel)


def _flipped(share: float) -> Damage:
    def damage(page: Image.Image) -> bytes:
        pixels = np.asarray(page).copy()
        pixels[np.random.default_rng(7).random(pixels.shape) < share] ^= 255
        return _saved(Image.fromarray(pixels))

    return damage


def _in_a_screenshot(factor: float, ground: int) -> Damage:
    def damage(page: Image.Image) -> bytes:
        small = _scaled(factor)(page)
        whole = Image.new("L", (small.width + 301, small.height + 173), ground)
        whole.paste(small, (97, 61))
        return _saved(whole)

    return damage


def _cut(factor: float, rows: float) -> Damage:
    """Without the first rows of cells, the header among them, at that scale."""

    def damage(page: Image.Image) -> bytes:
        picture = _scaled(factor)(page) if factor != 1 else page
        return _saved(picture.crop((0, round(16 * rows * factor), picture.width, picture.height)))

    return damage


DAMAGES: dict[str, Damage] = {
    "none": _saved,
    **{f"JPEG q{q}": (lambda page, q=q: _saved(page, "JPEG", quality=q)) for q in (50, 30, 15, 10)},
    **{f"scaled {f}": (lambda page, f=f: _saved(_scaled(f)(page))) for f in (0.65, 0.7, 0.75, 0.9, 1.25, 2.0, 3.3)},
    "scaled 0.75, JPEG q75": lambda page: _saved(_scaled(0.75)(page), "JPEG", quality=75),
    "scaled 0.9, box": lambda page: _saved(_scaled(0.9, KERNELS.BOX)(page)),
    "scaled 1.5, WEBP q40": lambda page: _saved(_scaled(1.5)(page), "WEBP", quality=40),
    **{f"flipped {100 * p:g} %": _flipped(p) for p in (0.0001, 0.001, 0.01)},
    "light on dark, 0.9": lambda page: _saved(_scaled(0.9)(page).point(lambda grey: 255 - grey)),
    "screenshot, 0.8, white": _in_a_screenshot(0.8, 255),
    "screenshot, 1.33, dark": _in_a_screenshot(1.33, 30),
    "cut above": _cut(1, 5.3),
    "cut above, 0.8": _cut(0.8, 5.3),
    "cut above, 1.37": _cut(1.37, 5.3),
}
_MORE = ("JPEG q10", "scaled 0.65", "scaled 3.3", "scaled 0.9, box", "flipped 1 %", "light on dark, 0.9")


def table(report: dict[str, Any]) -> str:
    lines = [("damage", "exact %", "CER %", "false", "ms a page")]
    lines += [tuple(str(value) for value in row.values()) for row in report["rows"]]
    widths = [max(len(line[column]) for line in lines) for column in range(5)]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([f"{report['mode']}, {report['cell']}, {report['pages']} pages a row", *body])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
