"""How the glyph tables are made: twins told apart, larger glyphs fitted into the box, and the same bytes each time."""

from pathlib import Path

import pytest

from memory.pages.font.build import build, fitted_glyph, serialise, squeezed_lines
from memory.pages.font.glyphs import TABLES
from memory.pages.font.unique import make_unique
from memory.pages.render.modes import CELLS, DENSE, REGULAR, Cell
from memory.zstd import unpack

X11, UNIFONT = Path("/usr/share/fonts/X11/misc"), Path("/usr/share/unifont/unifont.hex")
UPPER = Path("/usr/share/fonts/opentype/unifont/unifont_upper.otf")
DENSE_FONTS = [X11 / name for name in ("6x12.pcf.gz", "h12.pcf.gz", "f12.pcf.gz", "12x13ja.pcf.gz")]
SOURCES = {REGULAR: [UNIFONT, UPPER], DENSE: [*DENSE_FONTS, UNIFONT, UPPER]}


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_the_tables_are_made_again_from_their_fonts(cell: Cell) -> None:
    if missing := [path.name for path in SOURCES[cell] if not path.exists()]:
        pytest.skip(f"the fonts are not installed here: {', '.join(missing)}")
    marked, _ = build(cell, SOURCES[cell])
    assert serialise(marked, cell) == unpack(TABLES[cell].read_bytes(), limit=2**24)


def test_of_two_that_look_alike_the_rarer_is_marked_by_one_pixel() -> None:
    bits = bytes.fromhex("0000000018242442427e424242420000")
    marked, marks = make_unique({0x410: bits, 0x41: bits}, REGULAR, lambda code: code)
    assert (marked[0x41], marks) == (bits, 1)
    assert bin(int.from_bytes(marked[0x410], "big") ^ int.from_bytes(bits, "big")).count("1") == 1


def test_a_wide_glyph_that_begins_like_a_narrow_one_is_marked_in_its_left_half() -> None:
    narrow = bytes(range(12))
    wide = bytes(half for row in narrow for half in (row, 0xFC))
    marked, marks = make_unique({0x41: narrow, 0x4E00: wide}, DENSE, lambda code: code)
    assert marks == 1
    assert marked[0x4E00][::2] != narrow
    assert marked[0x4E00][1::2] == wide[1::2]


def test_only_lines_that_repeat_the_one_before_are_left_out() -> None:
    assert squeezed_lines(["a", "b", "b", "b", "c", "c"], 4) == ["a", "b", "c", "c"]
    assert squeezed_lines(["a", "b", "c"], 2) == ["a", "b", "c"]


def test_a_tall_glyph_is_squeezed_into_twelve_rows_and_one_of_all_different_rows_is_not_drawn() -> None:
    bar = bytes([0] + [0x10] * 15)
    fitted = fitted_glyph(bar)
    assert fitted is not None
    assert (len(fitted), sum(map(bool, fitted))) == (12, 12)
    zigzag = bytes(0x80 >> row % 8 for row in range(16))
    assert fitted_glyph(zigzag) is None
