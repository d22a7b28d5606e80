"""How many letters OCR gets wrong on dense pages: engine by engine, cell by cell, line by line and whole.

    python -m benchmarks.ocr_quality [--all] [--english FILE] [--chinese FILE] [--engines rapidocr,tesseract] [--json]

FILE is plain text, or JSON of LoCoMo (github.com/snap-research/locomo, data/locomo10.json) or of CMRC 2018
(github.com/ymcui/cmrc2018, dev set); without one a short text of this file's own is read. A page of 1024×1024 is drawn
of each in our own cells (8×16 and 6×12, to the letter as archives have them) and read line by line on the known grid.
With --all (many minutes) also as whole pages by the engines' own detection and, where DejaVu Sans Mono and Noto Sans
CJK are found, antialiased at 16, 12, 10 and 8 pixels.
CER: edits between the text and what was read, over the text's length; NFKC, all whitespace removed. Seconds are of CPU.
Marks: PP-OCRv6 by line in our 8×16 cells, English ≤ 0.5 %, Chinese ≤ 1 %.
"""

import argparse
import json
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from benchmarks._antialiased import drawn, fonts_for, rows_of
from memory.pages.read.ocr.pages import read_by_ocr
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE_MODES, MODES
from memory.pages.render.page import page_sheets, render_page
from models.ocr.open import engine_named, is_installed
from models.ocr.port import OcrEngine
from models.tokens import estimate

MARKS = {"english": 0.5, "chinese": 1.0}  # % CER, rapidocr by line, 8×16
ANTIALIASED = (16, 12, 10, 8)  # pixels

OWN = {
    "english": "The ferry leaves the small pier at twenty to ten, and whoever is late walks around the whole bay. "
    "“Bring a scarf,” said the keeper; the wind from the north is cold even in May, and there is no room inside.\n",
    "chinese": "渡船在上午九点四十分离开小码头，迟到的人要绕着整个海湾走一圈。看灯塔的人说：“带上围巾吧。”北风在五月里"
    "仍然很冷，船舱里也没有多余的座位。我们把背包放在甲板上，看着岸边的房子慢慢变小。\n",
}


class Page(Struct, frozen=True):
    """A picture, and what stands on it. `look` is the table's row: `cells 8x16`, `antialiased 16 px`."""

    look: str
    language: str
    text: str
    png: bytes


class Score(Struct, frozen=True):
    """One engine on one page. `cer` in per cent; `tokens` are the text's, estimated."""

    look: str
    language: str
    engine: str
    way: str  # line | page
    cer: float
    cpu_s: float
    characters: int
    tokens: int
    tokens: int


def cer(text: str, read: str) -> float:
    """Character error rate in per cent: Levenshtein edits over the text's length; NFKC, whitespace removed."""
    wanted, got = _bare(text), _bare(read)
    return 100 * edits(wanted, got) / max(len(wanted), 1)


def edits(first: str, second: str) -> int:
    """Insertions, deletions and changes that make one text of the other."""
    signs = np.array([ord(sign) for sign in second], np.int64)
    places = np.arange(len(second) + 1)
    row = places.copy()
    for n, sign in enumerate(first, 1):
        best = np.minimum(row[1:] + 1, row[:-1] + (signs != ord(sign)))
        after = np.concatenate([[n], best])
        row = np.minimum.accumulate(after - places) + places  # what insertions bring from the left
    return int(row[-1])


def _bare(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def pages(texts: dict[str, str], *, antialiased: bool = True) -> Iterator[Page]:
    """Each text's first page of 1024×1024, in each look that can be had here."""
    for language, text in texts.items():
        for mode in (MODES["base"], DENSE_MODES["base"]):
            sheet = next(iter(page_sheets([LayoutText(text)], mode)))
            yield Page(f"cells {mode.cell.name}", language, sheet.text, render_page(sheet, "pg_000000000000", 1).png)
    for language, text in texts.items():
        font = fonts_for(language)
        for size in ANTIALIASED if font and antialiased else ():
            shown, png = drawn(text, font, size)
            yield Page(f"antialiased {size} px", language, shown, png)


def score_of(page: Page, engine: OcrEngine, way: str) -> Score | None:
    """The engine on this page, by `line` or as a whole `page`; None where it does not read that way."""
    began = time.process_time()
    read = _by_line(page, engine) if way == "line" else engine.read(page.png).text
    if read is None:
        return None
    cpu = time.process_time() - began
    wrong = round(cer(page.text, read), 2)
    size, tokens = len(page.text), estimate(page.text)
    return Score(page.look, page.language, engine.name, way, wrong, round(cpu, 1), size, tokens)


def _by_line(page: Page, engine: OcrEngine) -> str | None:
    """On the grid for our own cells; row by row for the antialiased, whose rows are known too."""
    if not engine.lines:
        return None
    if page.look.startswith("cells"):
        return read_by_ocr(page.png, engine).text
    return "\n".join(line.text for line in engine.read_lines(rows_of(page.png, int(page.look.split()[1]))))


def quality(texts: dict[str, str], engines: Sequence[str], *, everything: bool = False) -> list[Score]:
    """The table, or the part of it that takes a minute or two. For benchmarks.pages as well."""
    ways = ("line", "page") if everything else ("line",)
    found = list[Score]()
    opened = [engine_named(name) for name in engines]
    for engine in opened:
        if engine.lines:
            engine.read_lines([next(iter(pages({"english": "warm"}))).png])  # loading is not counted
    drawn_pages = list(pages(texts, antialiased=everything))
    for way in ways:
        for page in drawn_pages:
            for engine in opened:
                if (score := score_of(page, engine, way)) is not None:
                    print(f"{score.look}, {score.language}, {score.engine} {way}: {score.cer} %", file=sys.stderr)
                    found.append(score)
    return found


def text_of(path: Path | None, language: str) -> str:
    """The benchmark's text: plain, LoCoMo's, CMRC's, or its own; enough for one page."""
    if path is None:
        return OWN[language] * 40
    raw = path.read_text("utf-8")
    return _of_json(json.loads(raw)) if path.suffix == ".json" else raw


def _of_json(data: Any) -> str:
    if isinstance(data, dict):  # CMRC 2018
        return "\n".join(part["context"] for article in data["data"][:20] for part in article["paragraphs"])
    talk = data[0]["conversation"]  # LoCoMo
    turns = (
        turn for name, said in talk.items() if name.startswith("session_") and isinstance(said, list) for turn in said
    )
    return "\n".join(f"{turn['speaker']}: {turn['text']}" for turn in turns)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.ocr_quality", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--english", type=Path)
    parser.add_argument("--chinese", type=Path)
    parser.add_argument("--engines", default="rapidocr,tesseract")
    parser.add_argument("--all", action="store_true", help="whole pages and antialiased letters as well")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    asked = options.engines.split(",")
    engines = [name for name in asked if is_installed(name)]
    missing = [name for name in asked if name not in engines]
    texts = {language: text_of(getattr(options, language), language) for language in OWN}
    found = quality(texts, engines, everything=options.all)
    report = {"schema": 1, "marks": MARKS, "reached": reached(found), "missing": missing, "rows": found}
    print(json.dumps(_built(report)) if options.json else table(report))
    return 0


def reached(found: Sequence[Score]) -> bool | None:
    """Whether PP-OCR by line is within the marks; None where it was not measured."""
    ours = [one for one in found if (one.look, one.engine, one.way) == ("cells 8x16", "rapidocr", "line")]
    return all(one.cer <= MARKS[one.language] for one in ours) if ours else None


def table(report: dict[str, Any]) -> str:
    """A row a look, a column an engine and way: CER English / Chinese, and CPU seconds for both."""
    found: list[Score] = report["rows"]
    looks = list(dict.fromkeys(one.look for one in found))
    columns = list(dict.fromkeys((one.engine, one.way) for one in found))
    cells = {(one.look, one.engine, one.way, one.language): one for one in found}
    lines = [["CER % en / zh", *(f"{engine} {way}" for engine, way in columns)]]
    for look in looks:
        row = [look]
        for engine, way in columns:
            both = [cells.get((look, engine, way, language)) for language in OWN]
            seconds = sum(one.cpu_s for one in both if one)
            row.append(" / ".join(f"{one.cer:.1f}" if one else "–" for one in both) + f"  ({seconds:.0f} s)")
        lines.append(row)
    widths = [max(len(line[n]) for line in lines) for n in range(len(lines[0]))]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    if not any(look.startswith("antialiased") for look in looks):
        body.append("antialiased rows left out: DejaVu Sans Mono and Noto Sans Mono CJK are not here")
    body += [f"{name} is not installed" for name in report["missing"]]
    verdict = {True: "reached", False: "MISSED", None: "not measured"}[report["reached"]]
    return "\n".join([*body, f"marks: rapidocr by line in 8×16 cells, en ≤ 0.5 %, zh ≤ 1 %: {verdict}"])


def _built(report: dict[str, Any]) -> dict[str, Any]:
    import msgspec

    return msgspec.to_builtins(report)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
