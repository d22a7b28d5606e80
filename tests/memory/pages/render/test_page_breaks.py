"""Where pages end: at an entry, a paragraph, a line or a word where one is near, else at the last cell."""

from datetime import UTC, datetime

import pytest

from memory.pages.render.entry_heads import EntryHead
from memory.pages.render.layout import LayoutText
from memory.pages.render.modes import DENSE_MODES, MODES, Mode
from memory.pages.render.page import page_sheets

TINY = MODES["tiny"]
every_cell = pytest.mark.parametrize("mode", [TINY, DENSE_MODES["tiny"]], ids=lambda mode: mode.cell.name)


def said(text: str, key: int = 1, speaker: str = "Ann") -> LayoutText:
    return LayoutText(text, EntryHead(f"e_{key}", speaker, "user", datetime(2026, 3, 14, tzinfo=UTC)), key)


def pages(text: str, mode: Mode = TINY) -> list[str]:
    return [sheet.text for sheet in page_sheets([LayoutText(text)], mode)]


@every_cell
def test_an_entry_that_would_be_broken_near_the_end_begins_the_next_page(mode: Mode) -> None:
    first, second = page_sheets([said("a" * int(mode.capacity * 0.92), 1), said("b" * 300, 2)], mode)
    assert [laid.key for laid in first.laid] == [1]
    assert [(laid.key, laid.start, laid.length) for laid in second.laid] == [(2, 0, 300)]
    assert not first.text.endswith("\n")  # nothing stands after the last entry of a page


@every_cell
def test_an_entry_that_begins_further_up_is_broken_so_that_the_page_is_filled(mode: Mode) -> None:
    first, second = page_sheets([said("a" * int(mode.capacity * 0.5), 1), said("b" * mode.capacity, 2)], mode)
    assert [laid.key for laid in first.laid] == [1, 2]
    assert first.used == mode.capacity
    assert second.laid[0].start == first.laid[1].length
    assert second.text.startswith("── Ann · user · 2026-03-14T00:00:00Z · e_2 · line 1 ──\n")


@every_cell
@pytest.mark.parametrize(("sign", "cells"), [("x", 1), ("\ue000", 6)])
def test_a_head_line_is_never_parted_from_its_text(mode: Mode, sign: str, cells: int) -> None:
    for length in range((mode.capacity - 150) // cells, (mode.capacity - 20) // cells):
        for sheet in page_sheets([said(sign * length, 1), said("y" * 400, 2, "Ann of the long name " * 3)], mode):
            assert all(laid.length for laid in sheet.laid)
            assert len(sheet.heads) == len(sheet.laid)
            assert sheet.laid[-1].page_start + sheet.laid[-1].length == len(sheet.text)


@every_cell
def test_a_paragraph_is_preferred_to_a_line_and_a_line_to_a_word(mode: Mode) -> None:
    full = mode.capacity
    line, word = "x" * (full - 12) + "\n", "xxxx "
    assert len(pages("x" * (full - 60) + "\n\n" + "y" * 40 + "\n" + "zz " * 300, mode)[0]) == full - 58
    assert len(pages("x" * (full - 60) + "\n \r\n" + "y" * 40 + "\n" + "zz " * 300, mode)[0]) == full - 56
    assert pages(line + word * 100, mode)[0] == line
    assert pages("x" * (full - 7) + " " + "y" * 400, mode)[0] == "x" * (full - 7) + " "


@every_cell
def test_where_nothing_is_near_the_page_is_filled_to_its_last_cell(mode: Mode) -> None:
    far = "x" * (mode.capacity // 2) + "\n\n" + "y" * mode.capacity
    assert len(pages(far, mode)[0]) == mode.capacity


def test_the_line_on_which_an_entry_goes_on_is_said() -> None:
    text = "".join(f"line {n}\n" for n in range(1, 1001))
    for sheet in list(page_sheets([said(text)], TINY))[1:]:
        head = sheet.heads[0].head
        assert head is not None
        assert sheet.text[sheet.heads[0].end :].startswith(f"line {head.line}\n")


def test_no_stretch_is_no_page_and_empty_entries_have_a_place() -> None:
    assert list(page_sheets([], TINY)) == []
    (sheet,) = page_sheets([said("", 1), said("", 2), said("x", 3)], TINY)
    assert [(laid.key, laid.length) for laid in sheet.laid] == [(1, 0), (2, 0), (3, 1)]


def test_a_thousand_short_entries_lose_little_of_the_pages() -> None:
    talk = [said("word " * (7 + 13 * n % 90), n) for n in range(1000)]
    full = list(page_sheets(talk, MODES["base"]))[:-1]
    lost = 1 - sum(sheet.used for sheet in full) / sum(sheet.mode.capacity for sheet in full)
    assert lost < 0.04
