"""The natural layout: lines stay lines, in four columns, and every character of the text is on the pages."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from foundation.trust import Trust
from memory.pages.font.glyphs import CODES, ESCAPE, FILLER, HEAD, NEWLINE, Glyphs, load_glyphs
from memory.pages.read.exact import read_cells, read_exact
from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE_MODES, MODES, Mode
from memory.pages.render.png import decode
from memory.pages.render.raster import cells_of
from memory.pages.render.readable import (
    AT_SPACE,
    BESIDE,
    COLUMNS,
    TAB_STOP,
    TITLE_ROWS,
    WITHIN_WORD,
    natural_page,
    natural_pages,
    width_of,
)
from tests.examples import examples

pytestmark = pytest.mark.timeout(60)  # by the wall clock: a busy machine takes ten times as long

every_cell = pytest.mark.parametrize("mode", [MODES["tiny"], DENSE_MODES["tiny"]], ids=lambda mode: mode.cell.name)
every_mode = st.sampled_from([*MODES.values(), *DENSE_MODES.values()])
ARROW, CORNER, ESCAPED = "\ue100", "\ue101", "\ue102"  # private use: no text's own, for it has no glyph
OWN = {NEWLINE: ARROW, FILLER: CORNER, ESCAPE: ESCAPED, HEAD: "─"}


def rows_of(png: bytes, mode: Mode) -> list[tuple[list[int], int]]:
    """The codes of each column's rows, and the mark beside them."""
    codes = read_cells(cells_of(decode(png), mode.cell), load_glyphs(mode.cell)).reshape(mode.rows, mode.columns)
    width = width_of(mode)
    columns = [codes[TITLE_ROWS:, at * (width + BESIDE) :][:, : width + 1] for at in range(COLUMNS)]
    return [(row[:width].tolist(), int(row[width])) for column in columns for row in column]


def looked_at(pages: list[bytes], mode: Mode) -> str:
    """The text as a careful person would copy it, by the rules that the layout's description gives."""
    rows = [row for png in pages for row in rows_of(png, mode)]
    while len(rows) > 1 and rows[-1][1] == ord(" ") and set(rows[-1][0]) == {0x20}:
        rows.pop()
    lines, line = list[str](), ""
    for row, mark in rows:
        shown = copied(row, load_glyphs(mode.cell))
        if mark == WITHIN_WORD:
            line += shown.rstrip(CORNER)
            continue
        line += shown.rstrip(" ")
        if mark == AT_SPACE:
            line += " "
            continue
        lines.append(unescaped(line))
        line = ""
    ended = lines[-1].endswith(ARROW)
    return "\n".join(line.removesuffix(ARROW).removesuffix(CORNER) for line in lines) + ("\n" if ended else "")


def copied(row: list[int], table: Glyphs) -> str:
    """A row's characters: of a wide glyph's two cells one, and of those that a tab reaches over none."""
    signs, at = "", 0
    while at < len(row):
        signs += OWN.get(row[at]) or chr(row[at])
        wide = row[at] < CODES - 3 and table.first_cell[row[at]] >= table.narrow
        end = at + 2 if wide else at + 1
        at = end + (-end % TAB_STOP if row[at] == 0x09 else 0)
    return signs


def unescaped(line: str) -> str:
    return re.sub(f"{ESCAPED}([0-9A-F]+);", lambda found: chr(int(found[1], 16)), line)


@settings(max_examples=examples(400), deadline=None)
@given(
    st.text(
        st.sampled_from("abc    \t字🦊\n\n\r\x00\ue000\ud800␛↵↩─│") | st.characters(codec=None, categories=None),
        max_size=1500,
    ),
    every_mode,
)
@example("a\n", MODES["tiny"])
@example("a \n\n \n", MODES["tiny"])
@example("def f():\n\treturn 1  \n" * 300, DENSE_MODES["small"])
@example("字" * 3000, MODES["tiny"])
@example("", MODES["base"])
def test_every_character_of_the_text_is_on_the_pages(text: str, mode: Mode) -> None:
    assert looked_at(list(natural_pages([LayoutText(text)], mode, "a title")), mode) == text


@every_cell
def test_lines_stay_lines_and_long_ones_are_marked(mode: Mode) -> None:
    width = width_of(mode)
    rows = rows_of(natural_page("short\n" + "x" * (width + 3) + "\nend", mode), mode)
    shown = [("".join(map(chr, row)).rstrip(), chr(mark)) for row, mark in rows[:4]]
    assert shown == [("short", " "), ("x" * width, "↩"), ("xxx", " "), ("end", " ")]


@every_cell
def test_a_line_is_broken_between_words_where_it_can_be(mode: Mode) -> None:
    width = width_of(mode)
    words = "a" * (width - 4) + " " + "b" * 6 + " " + "c" * (width - 7) + " " + "d"
    rows = rows_of(natural_page(words, mode), mode)
    shown = [("".join(map(chr, row)).rstrip(), chr(mark)) for row, mark in rows[:3]]
    assert shown == [("a" * (width - 4), "·"), ("b" * 6 + " " + "c" * (width - 7), "·"), ("d", " ")]


@every_cell
def test_columns_fill_one_after_another_and_then_the_next_page(mode: Mode) -> None:
    height = mode.rows - TITLE_ROWS
    text = "\n".join(f"{n}" for n in range(COLUMNS * height + 2))
    first, second = natural_pages([LayoutText(text)], mode)
    assert "".join(map(chr, rows_of(first, mode)[height][0])).strip() == str(height)
    assert "".join(map(chr, rows_of(second, mode)[1][0])).strip() == str(COLUMNS * height + 1)


def test_entries_stand_under_their_heads() -> None:
    mode = MODES["base"]
    rows = rows_of(next(natural_pages([LayoutText("Tea.", EntryHead("e_1", "Ann", "user", None))], mode)), mode)
    assert rows[0][0][0] == HEAD
    assert "".join(map(chr, rows[0][0][1:])).strip() == "─ Ann · user · – · e_1 ──"


@every_cell
def test_the_title_and_the_number_stand_above(mode: Mode) -> None:
    png = natural_page("x", mode, "Notes\nof March")
    codes = read_cells(cells_of(decode(png), mode.cell), load_glyphs(mode.cell))[: mode.columns]
    assert "".join(map(chr, codes)).strip() == "Notes of March 1/1"


@every_cell
def test_a_natural_page_is_never_taken_for_one_that_reads_exactly(mode: Mode) -> None:
    assert read_exact(natural_page("some words of a text\n" * 30, mode)).trust is Trust.APPROXIMATE
