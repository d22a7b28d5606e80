"""What each glyph table draws, and what stands on a page as an escape instead, script by script.

    python -m benchmarks.escapes [FILE…] [--json]

Three tables: passages in many scripts (or the files given), all characters that Unicode assigns, by script, and the
whole. `escaped` is the share of characters that have no glyph; `cells` is what a character takes on average, escapes
and all: 1 is a narrow glyph, 2 a wide one, an escape is 3 to 8. A character's script is the first word of its name.
"""

import argparse
import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._passages import PASSAGES
from memory.pages.font.glyphs import load_glyphs
from memory.pages.render.modes import CELLS, Cell

MOST_SHOWN = 40  # scripts; --json has all
_NOT_TEXT = frozenset({"Cn", "Cs", "Co"})


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.escapes", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="UTF-8 texts in place of our own passages")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    texts = {path.name: path.read_text("utf-8") for path in options.files} or PASSAGES
    assigned = assigned_by_script()
    report = {
        "schema": 1,
        "unicode": unicodedata.unidata_version,
        "texts": [{"text": name, **row(text)} for name, text in texts.items()],
        "scripts": [{"script": script, **row(chars)} for script, chars in assigned.items()],
        "all": row("".join(assigned.values())),
    }
    print(json.dumps(report, ensure_ascii=False) if options.json else table(report))
    return 0


def assigned_by_script() -> dict[str, str]:
    """Every assigned character but surrogates and private use, by script, the largest first."""
    chars = [char for char in map(chr, range(0x110000)) if unicodedata.category(char) not in _NOT_TEXT]
    scripts: dict[str, list[str]] = {}
    for char in chars:
        scripts.setdefault(script_of(char), []).append(char)
    return {script: "".join(scripts[script]) for script, _ in Counter(map(script_of, chars)).most_common()}


def script_of(char: str) -> str:
    """`LATIN`, `CJK`, …; symbols, punctuation and digits that belong to no script are one."""
    category = unicodedata.category(char)
    if category in {"Cc", "Cf", "Zs", "Zl", "Zp"}:
        return "controls and spaces"
    word = unicodedata.name(char, "TANGUT").partition(" ")[0].partition("-")[0]
    return "symbols" if category[0] in "SP" and word not in {"CJK", "HANGUL", "BRAILLE"} else word.capitalize()


def row(text: str) -> dict[str, Any]:
    return {"chars": len(text), **{cell.name: share(text, cell) for cell in CELLS}}


def share(text: str, cell: Cell) -> dict[str, float]:
    """Which part of the text's characters has no glyph, and how many cells one takes."""
    table = load_glyphs(cell)
    codes = np.array([ord(char) for char in text], np.int64)
    first = table.first_cell[codes]
    escape = np.array([len(f"{code:X}") + 2 for code in codes])
    cells = np.where(first < 0, escape, np.where(first >= table.narrow, 2, 1))
    return {"escaped": round(float((first < 0).mean()), 4), "cells": round(float(cells.mean()), 2)}


def table(report: dict[str, Any]) -> str:
    head = ("", "characters", *(f"{cell.name} {what}" for cell in CELLS for what in ("escaped", "cells")))
    whole = [{"script": "all assigned", **report["all"]}]
    rest = len(report["scripts"]) - MOST_SHOWN
    parts = [
        lines(head, report["texts"], "text"),
        lines(head, [*report["scripts"][:MOST_SHOWN], *whole], "script"),
        f"{rest} smaller scripts are in --json. Unicode {report['unicode']}.",
    ]
    return "\n\n".join(parts)


def lines(head: tuple[str, ...], rows: Iterable[dict[str, Any]], name: str) -> str:
    """Markdown, so that the docs can hold it as it is."""
    body = [head, ("---", *["---:"] * (len(head) - 1))]
    for one in rows:
        figures = (
            f"{one[cell.name][what]:{form}}" for cell in CELLS for what, form in (("escaped", ".1%"), ("cells", ".2f"))
        )
        body.append((one[name], f"{one['chars']:,}", *figures))
    return "\n".join("| " + " | ".join(line) + " |" for line in body)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
