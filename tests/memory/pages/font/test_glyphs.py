"""The glyph tables: each character has a bitmap of its own, and a grid of cells reads in one way only."""

import hashlib
import struct

import numpy as np
import pytest

from memory.pages.font.glyphs import CODES, ESCAPE, FILLER, HEAD, MAGIC, NEWLINE, RESERVED, TABLES, load_glyphs
from memory.pages.render.modes import CELLS, DENSE, REGULAR, Cell

every_cell = pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)


@every_cell
def test_every_drawable_character_has_a_bitmap_of_its_own(cell: Cell) -> None:
    table = load_glyphs(cell)
    narrow, wide = table.cells[: table.narrow], table.cells[table.narrow :].reshape(-1, 2 * cell.height)
    assert len(np.unique(narrow, axis=0)) == len(narrow) == len(table.narrow_index.codes)
    assert len(np.unique(wide, axis=0)) == len(wide) == len(table.wide_index.codes)


@every_cell
def test_no_wide_glyph_begins_like_a_narrow_one(cell: Cell) -> None:
    table = load_glyphs(cell)
    narrow = {bits.tobytes() for bits in table.cells[: table.narrow]}
    assert not [bits for bits in table.cells[table.narrow :: 2] if bits.tobytes() in narrow]


@every_cell
def test_no_two_bitmaps_share_a_hash(cell: Cell) -> None:
    table = load_glyphs(cell)
    for index in (table.narrow_index, table.wide_index):
        assert len(np.unique(index.hashes)) == len(index.hashes)


@every_cell
def test_no_glyph_is_wider_than_its_cell(cell: Cell) -> None:
    beyond = 0xFF >> cell.width
    assert not (load_glyphs(cell).cells & beyond).any()


@every_cell
def test_our_own_cells_are_in_each_table_and_what_looks_like_them_is_not(cell: Cell) -> None:
    table = load_glyphs(cell)
    assert (table.first_cell[[NEWLINE, ESCAPE, FILLER, HEAD]] >= 0).all()
    assert (table.first_cell[[code for code in RESERVED if code != NEWLINE]] < 0).all()
    assert len(table.first_cell) == CODES


def test_it_draws_all_of_the_basic_plane_but_surrogates_private_use_and_our_own_signs() -> None:
    drawn = load_glyphs().first_cell >= 0
    missing = {code for code in range(0x10000) if not drawn[code]}
    private = set(range(0xE000, 0xF900))
    assert missing - private - set(range(0xD800, 0xE000)) <= {*RESERVED, 0xFFFE, 0xFFFF}
    assert drawn.sum() > 67_000


def test_the_dense_table_draws_what_people_write_most() -> None:
    drawn = load_glyphs(DENSE).first_cell >= 0
    gb2312 = {bytes([row, cell]).decode("gb2312", "ignore") for row in range(0xA1, 0xF8) for cell in range(0xA1, 0xFF)}
    everyday = "".join(map(chr, [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x391, 0x3CA), *range(0x410, 0x450)]))
    kana, box = "".join(map(chr, range(0x3041, 0x3094))), "".join(map(chr, range(0x2500, 0x25A0)))
    hangul = "".join(map(chr, range(0xAC00, 0xD7A4)))
    for text in ("".join(gb2312), everyday.replace("\u03a2", ""), kana, box, "\t\r\n"):
        assert not [char for char in text if not drawn[ord(char)]]
    assert drawn[[ord(char) for char in hangul]].mean() > 0.9
    assert drawn.sum() > 50_000


def test_what_a_person_could_not_see_is_not_drawn_in_dense_cells() -> None:
    table = load_glyphs(DENSE)
    unseen = "\u200b\u200d\u202e\u2066\ufeff\x00\x1b\u0085\ue000\ud800"
    assert (table.first_cell[[ord(char) for char in unseen]] < 0).all()


def test_ascii_keeps_its_pixels_and_look_alikes_are_marked() -> None:
    table = load_glyphs()
    latin, greek, cyrillic = (table.cells[table.first_cell[ord(letter)]] for letter in "AΑА")
    assert latin.tobytes().hex() == "0000000018242442427e424242420000"
    for twin in (greek, cyrillic):
        assert int(np.unpackbits(latin ^ twin).sum()) == 1


def test_the_table_still_draws_each_character_as_the_first_release_did() -> None:
    """Its pages are read by these very bitmaps; the head mark alone was added."""
    table = load_glyphs(REGULAR)
    codes = [code for code in np.flatnonzero(table.first_cell >= 0).tolist() if code != HEAD]
    narrow = [code for code in codes if table.first_cell[code] < table.narrow]
    wide = [code for code in codes if table.first_cell[code] >= table.narrow]
    first = table.first_cell[wide]
    pairs = np.stack([table.cells[first], table.cells[first + 1]], axis=2)
    body = [np.array(narrow, "<u4"), table.cells[table.first_cell[narrow]], np.array(wide, "<u4"), pairs]
    packed = MAGIC + struct.pack("<II", len(narrow), len(wide)) + b"".join(part.tobytes() for part in body)
    assert hashlib.sha256(packed).hexdigest()[:8] == "b880b812"


def test_the_tables_are_small_and_their_licences_lie_beside_them() -> None:
    assert sum(table.stat().st_size for table in TABLES.values()) < 1_300_000
    folder = TABLES[REGULAR].parent
    for licence, words in {
        "LICENSE-OFL-1.1.txt": "SIL OPEN FONT LICENSE",
        "LICENSE-GPL-2.txt": "GNU GENERAL PUBLIC LICENSE",
        "LICENSE-EFONT.txt": "The Electronic Font Open Laboratory",
        "NOTICE": "misc-fixed",
    }.items():
        assert words in (folder / licence).read_text("utf-8")
    assert (folder / "NOTICE").read_text("utf-8").startswith("Palimpsest Cells\n")  # not the reserved name
