"""In a small terminal every screen shows what is answered, chosen or typed in."""

import pytest
from textual.widget import Widget
from textual.widgets import Input, OptionList

from memory.memory import Memory
from tests.tui.conftest import Open
from tests.tui.screens import DIALOGS, EVERY_SCREEN, LISTS, memory, opened
from tui.picker.row_list import RowList

__all__ = ["memory"]
SIZES = ((40, 10), *(pytest.param(size, marks=pytest.mark.soak) for size in ((40, 12), (60, 15))))


def rows_seen(widget: Widget) -> int:
    """How many rows of the widget are within the terminal and within each container that it is in."""
    return widget.screen.find_widget(widget).visible_region.height


def is_whole(widget: Widget) -> bool:
    return rows_seen(widget) == widget.outer_size.height > 0


def chosen_row(rows: RowList | OptionList) -> int | None:
    return rows.chosen if isinstance(rows, RowList) else rows.highlighted


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", EVERY_SCREEN)
async def test_what_has_the_focus_is_in_view(name: str, size: tuple[int, int], open_chat: Open, memory: Memory) -> None:
    async with open_chat(size=size) as chat:
        screen = await opened(chat, EVERY_SCREEN[name], memory)
        fields = [field for field in screen.query(Input) if field.display]
        assert all(is_whole(field) for field in fields), "the field is in view"
        assert screen.focused is None or is_whole(screen.focused)
        assert any("Esc" in line or "Enter" in line for line in chat.seen), "a key is in view"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", LISTS)
async def test_a_list_shows_two_rows_and_the_chosen_one(
    name: str, size: tuple[int, int], open_chat: Open, memory: Memory
) -> None:
    async with open_chat(size=size) as chat:
        screen = await opened(chat, LISTS[name], memory)
        rows = screen.query_one(RowList) if screen.query(RowList) else screen.query_one(OptionList)
        await chat.until(lambda: chosen_row(rows) is not None)  # some lists are read in a thread
        chosen = chosen_row(rows)
        assert rows_seen(rows) >= min(2, rows.virtual_size.height)
        assert rows_seen(rows) == rows.size.height, "no row of the list is cut off"
        assert chosen is not None
        assert rows.scroll_y <= chosen or name == "search"  # a hit has several rows
        assert name == "search" or chosen < rows.scroll_y + rows_seen(rows)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DIALOGS)
async def test_the_answers_stay_in_view_and_the_question_scrolls(
    name: str, size: tuple[int, int], open_chat: Open, memory: Memory
) -> None:
    async with open_chat(size=size) as chat:
        screen = await opened(chat, DIALOGS[name], memory)
        for widget in screen.query(".sheet > *"):
            assert not widget.display or rows_seen(widget) == widget.outer_size.height, f"{widget} is cut off"
        for widget in screen.query(".sheet-answers, .sheet-title, #choices"):
            assert rows_seen(widget), f"{widget} is out of view"
        for widget in screen.query(".sheet-facts"):
            assert widget.size.height >= 1
            assert widget.max_scroll_y or widget.virtual_size.height <= widget.size.height


async def test_each_answer_of_a_permission_is_in_view(open_chat: Open, memory: Memory) -> None:
    async with open_chat(size=(40, 10)) as chat:
        await opened(chat, DIALOGS["permission"], memory)
        for label in ("1 Once", "2 For this session", "3 Always", "4 Always", "5 No", "6 No, and type"):
            assert any(label in line for line in chat.seen), label


async def test_the_answer_that_is_gone_to_is_in_view(open_chat: Open, memory: Memory) -> None:
    async with open_chat(size=(40, 10)) as chat:
        await opened(chat, DIALOGS["question with many answers"], memory)
        for number in range(1, 10):
            await chat.press("down")
            assert any(f"› {number} " in line for line in chat.seen), number
        await chat.press("down")
        assert any("Write:" in line for line in chat.seen)


async def test_why_a_line_is_refused_is_in_view(open_chat: Open, memory: Memory) -> None:
    async with open_chat(size=(40, 10)) as chat:
        screen = await opened(chat, DIALOGS["line"], memory)
        await chat.press("enter")
        assert is_whole(screen.query_one("#line-wrong"))
        assert is_whole(screen.query_one(Input))
        assert "Write a tool" in " ".join(chat.seen)


async def test_a_deletion_scrolls_to_its_last_sentence(open_chat: Open, memory: Memory) -> None:
    async with open_chat(size=(40, 10)) as chat:
        await opened(chat, DIALOGS["delete"], memory)
        assert not any("3 🏺" in line for line in chat.seen)
        await chat.press(*["pagedown"] * 9)
        assert any("3 🏺" in line for line in chat.seen)
        assert any("y deletes it" in line for line in chat.seen)
