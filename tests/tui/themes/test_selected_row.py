"""The selected row in the terminal's own colours: what is muted in it can be read."""

import pytest
from rich.style import Style
from rich.text import Text

from tests.tui.conftest import Chat, Open
from tui.dialogs.choices import ChoiceItem, ChoicesScreen
from tui.picker.row_list import RowList

ITEMS = [ChoiceItem("a", "one", "first 说明"), ChoiceItem("b", "two", "second")]


def style_of(chat: Chat, text: str) -> Style | None:
    strips = chat.app.screen._compositor.render_strips()
    return next((segment.style for strip in strips for segment in strip if text in segment.text), None)


def colours_of(chat: Chat, text: str) -> tuple[str, str]:
    style = style_of(chat, text)
    assert style is not None and style.color is not None and style.bgcolor is not None
    return style.color.name, style.bgcolor.name


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_a_description_is_black_on_white_in_the_selected_row_alone(open_chat: Open, theme: str) -> None:
    async with open_chat(theme=theme) as chat:
        chat.app.push_screen(ChoicesScreen("Theme", ITEMS))
        await chat.until(lambda: style_of(chat, "first"))
        assert colours_of(chat, "first") == ("color(0)", "color(7)")
        assert colours_of(chat, "second")[0] == "color(8)"
        await chat.press("down")
        await chat.until(lambda: colours_of(chat, "second") == ("color(0)", "color(7)"))
        assert colours_of(chat, "first")[0] == "color(8)"


async def test_the_picker_s_rows_are_so_too(open_chat: Open) -> None:
    async with open_chat(theme="ansi-dark") as chat:
        rows = RowList(lambda number, width: Text.assemble((f"figure {number}", "bright_black")))
        await chat.screen.mount(rows)
        rows.styles.height = 4
        rows.set_rows(2, 0)
        await chat.until(lambda: style_of(chat, "figure 1"))
        assert colours_of(chat, "figure 0") == ("color(0)", "color(7)")
        assert colours_of(chat, "figure 1")[0] == "bright_black"
