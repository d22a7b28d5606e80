"""From text to pages: flow layout, nothing lost between them."""

import struct
import zlib

import pytest

from foundation.errors import Misuse
from memory.pages.font.glyphs import FILLER, load_glyphs
from memory.pages.render.header import read_header
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import MODES, TINY, Mode, mode_named
from memory.pages.render.page import PageSheet, page_sheets, render_page

BASE = MODES["base"]
ID = "pg_0123456789ab"


def laid(text: str, mode: Mode = BASE) -> list[PageSheet]:
    return list(page_sheets([LayoutText(text)], mode))


def test_the_modes_are_the_four_of_the_paper() -> None:
    assert [(m.name, m.side, m.vision_tokens) for m in MODES.values()] == [
        ("tiny", 512, 64),
        ("small", 640, 100),
        ("base", 1024, 256),
        ("large", 1280, 400),
    ]
    assert all(m.vision_tokens * 4096 == m.side**2 for m in MODES.values())


def test_an_unknown_mode_is_a_misuse_that_names_the_others() -> None:
    with pytest.raises(Misuse) as caught:
        mode_named("huge")
    assert "tiny, small, base, large" in caught.value.hint


def test_lines_flow_on_so_that_short_lines_do_not_empty_a_page() -> None:
    (sheet,) = laid("a\n" * 3000)
    assert sheet.used == 6000


@pytest.mark.parametrize("mode", MODES.values(), ids=lambda mode: mode.name)
def test_a_page_is_filled_to_its_last_cell(mode) -> None:
    first, second = laid("x" * (mode.capacity + 1), mode)
    assert (first.used, second.used) == (mode.capacity, 1)


def test_the_last_page_takes_the_smallest_mode_that_it_fits() -> None:
    for name, mode in MODES.items():
        for cells, wanted in ((mode.capacity, name), (MODES["small"].capacity, "small"), (TINY.capacity, "tiny")):
            if cells <= mode.capacity:
                assert laid("x" * cells, mode)[-1].mode.name == wanted
    assert [sheet.mode.name for sheet in laid("x" * (BASE.capacity + TINY.capacity + 1))] == ["base", "small"]


def test_a_last_page_of_wide_characters_fits_by_the_cells_that_it_takes_there() -> None:
    just = "x" + "字" * (TINY.capacity // 2 - 1)  # a cell is lost at the end of the first row
    assert laid(just)[-1].mode == TINY
    assert laid(just + "字")[-1].mode == MODES["small"]


def test_empty_text_is_one_empty_page() -> None:
    (sheet,) = laid("")
    assert (sheet.text, sheet.used, sheet.mode) == ("", 0, TINY)


def test_a_wide_glyph_never_straddles_two_rows() -> None:
    (sheet,) = laid("x" + "字" * 3000)
    table = load_glyphs()
    ends = sheet.grid.reshape(-1, BASE.columns)[:, -1]
    assert ends[0] == table.first_cell[FILLER]  # 1 + 63×2 cells, then one that no wide glyph fits
    assert sheet.used == 1 + 6000 + 1


def test_an_escape_is_never_split_between_pages() -> None:
    text = "x" * (BASE.capacity - 3) + "\ue000" + "y"
    first, second = laid(text)
    assert first.text == "x" * (BASE.capacity - 3)
    assert second.text == "\ue000y"


def test_pages_joined_are_the_text() -> None:
    text = "Grüße, 世界 \ud800 ␛ ↵\n" * 4000
    assert "".join(sheet.text for sheet in laid(text)) == text


def test_the_png_is_stored_in_one_bit_and_carries_nothing_but_pixels() -> None:
    (sheet,) = laid("hello")
    png = render_page(sheet, ID, 1).png
    assert struct.unpack_from(">IIBB", png, 16) == (512, 512, 1, 0)
    kinds, at = [], 8
    while at < len(png):
        (length,) = struct.unpack_from(">I", png, at)
        kinds.append(png[at + 4 : at + 8])
        at += 12 + length
    assert kinds == [b"IHDR", b"IDAT", b"IEND"]
    raw = zlib.decompress(png[png.index(b"IDAT") + 4 : -16])
    assert len(png) > len(raw)  # stored: a pack's zstd does the compressing


def test_the_same_page_is_the_same_bytes() -> None:
    (sheet,) = laid("hello")
    assert render_page(sheet, ID, 1).png == render_page(sheet, ID, 1).png


@pytest.mark.parametrize("words", ["PALIMPSEST-1 {} " + "ab" * 32 + " ", "PALIMPSEST-2 {} 01f " + "ab" * 32])
def test_a_header_with_any_letter_changed_is_none(words: str) -> None:
    header = words.format("b880b812 pg_0123456789ab 0000001 00005")
    whole = f"{header}{zlib.crc32(header.encode()):08x}".ljust(128)
    assert read_header(whole) is not None
    for at in range(128):
        changed = whole[:at] + ("3" if whole[at] != "3" else "4") + whole[at + 1 :]
        assert read_header(changed) is None, at
