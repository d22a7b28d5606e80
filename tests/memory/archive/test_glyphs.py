"""The glyph table: each character has a bitmap of its own, and a grid of cells reads in one way only."""

import numpy as np

from memory.archive.glyphs import CODES, ESCAPE, FILLER, HEAD, NEWLINE, RESERVED, TABLES, glyphs
from memory.archive.modes import REGULAR



def test_every_drawable_character_has_a_bitmap_of_its_own() -> None:
    table = glyphs()
    narrow, wide = table.cells[: table.narrow], table.cells[table.narrow :].reshape(-1, 32)
    assert len(np.unique(narrow, axis=0)) == len(narrow) == len(table.narrow_index.codes)
    assert len(np.unique(wide, axis=0)) == len(wide) == len(table.wide_index.codes)


def test_no_wide_glyph_begins_like_a_narrow_one() -> None:
    table = glyphs()
    narrow = {cell.tobytes() for cell in table.cells[: table.narrow]}
    assert not [cell for cell in table.cells[table.narrow :: 2] if cell.tobytes() in narrow]


def test_no_two_bitmaps_share_a_hash() -> None:
    table = glyphs()
    for index in (table.narrow_index, table.wide_index):
        assert len(np.unique(index.hashes)) == len(index.hashes)


def test_it_draws_all_of_the_basic_plane_but_surrogates_private_use_and_our_own_signs() -> None:
    drawn = glyphs().first_cell >= 0
    missing = {code for code in range(0x10000) if not drawn[code]}
    private = set(range(0xE000, 0xF900))
    assert missing - private - set(range(0xD800, 0xE000)) <= {*RESERVED, 0xFFFE, 0xFFFF}
    assert drawn[[NEWLINE, ESCAPE, FILLER, HEAD]].all()
    assert drawn.sum() > 67_000
    assert len(drawn) == CODES


def test_ascii_keeps_its_pixels_and_look_alikes_are_marked() -> None:
    table = glyphs()
    latin, greek, cyrillic = (table.cells[table.first_cell[ord(letter)]] for letter in "AΑА")
    assert latin.tobytes().hex() == "0000000018242442427e424242420000"
    for twin in (greek, cyrillic):
        assert int(np.unpackbits(latin ^ twin).sum()) == 1


def test_the_table_is_small_and_its_licences_lie_beside_it() -> None:
    assert TABLES[REGULAR].stat().st_size < 900_000
    folder = TABLES[REGULAR].parent
    assert "SIL OPEN FONT LICENSE" in (folder / "LICENSE-OFL-1.1.txt").read_text("utf-8")
    assert "GNU GENERAL PUBLIC LICENSE" in (folder / "LICENSE-GPL-2.txt").read_text("utf-8")
    assert (folder / "NOTICE").read_text("utf-8").startswith("Palimpsest Cells\n")  # not the reserved name
