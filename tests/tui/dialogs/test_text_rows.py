"""A long text in a dialog: it is wrapped once a width, and only what is in view is drawn."""

from typing import Any

import pytest
from textual.geometry import Offset
from textual.selection import Selection

from agent.permissions.action import Access, Action
from tui.dialogs.permission import PermissionScreen
from tui.dialogs.text_rows import TextRows

LINES = 3_000
LONG = "This line is wider than the dialog, and so goes on in a second row: 锅炉每年五月保养一次，保修到明年。🍵 tea"


async def shown(chat: Any, detail: str) -> TextRows:
    action = Action(tool="write_file", access=Access.EDIT, summary="write a.py", detail=detail, is_diff=True)
    dialog = PermissionScreen(action, "No rule decides.")
    await chat.app.push_screen(dialog)
    await chat.until(lambda: chat.app.screen is dialog and any("1 Once" in line for line in chat.seen))
    return dialog.query_one(TextRows)


async def test_a_question_with_thousands_of_lines_wraps_each_once_and_draws_those_in_view(
    open_chat: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapped, drawn = list[str](), set[int]()
    from tui.dialogs import text_rows

    breaks, render_line = text_rows.line_breaks, TextRows.render_line
    monkeypatch.setattr(text_rows, "line_breaks", lambda text, width: wrapped.append(text) or breaks(text, width))
    monkeypatch.setattr(TextRows, "render_line", lambda rows, y: drawn.add(y) or render_line(rows, y))
    detail = "".join(f"+{'x' * 50} {number}\n" for number in range(LINES))
    async with open_chat() as chat:
        await shown(chat, detail)
        assert any("↓ 2,9" in line for line in chat.seen)
        assert len(wrapped) <= 2 * LINES, "once, and once more where the scrollbar takes a column"
        assert len(drawn) < 100
        await chat.press("end")
        await chat.until(lambda: any(f"x {LINES - 1}" in line for line in chat.seen))


async def test_long_lines_go_on_below_and_are_copied_as_they_are(open_chat: Any) -> None:
    async with open_chat() as chat:
        rows = await shown(chat, f"+{LONG}\n-short\n")
        assert "保修到明年。🍵 tea" in "".join(line.strip() for line in chat.seen)
        everything = Selection(None, None)
        assert rows.get_selection(everything) == (f"+{LONG}\n-short", "\n")
        part = Selection(Offset(LONG.index("锅炉") + 1, 0), Offset(6, 1))
        assert rows.get_selection(part) == (f"{LONG[LONG.index('锅炉') :]}\n-short", "\n")


async def test_what_is_selected_is_marked_in_the_second_row_of_a_line_too(open_chat: Any) -> None:
    async with open_chat() as chat:
        rows = await shown(chat, f"+{LONG}\n")
        before = [rows.render_line(y) for y in range(2)]
        chat.app.screen.selections = {rows: Selection(Offset(LONG.index("保修") + 1, 0), Offset(len(LONG) + 1, 0))}
        after = [rows.render_line(y) for y in range(2)]
        assert before[0] == after[0]
        assert before[1] != after[1]
        assert before[1].text == after[1].text
