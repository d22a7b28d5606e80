"""Where the cursor stands in a real terminal, with characters of all widths."""

import pytest

from foundation.paths import Workspace
from tests.tui.pty_screen import Terminal

TEXTS = {
    "chinese": ("锅炉 ok", 7),
    "fullwidth": ("ＡＢ", 4),
    "combining": ("e\u0301o\u0308", 2),
    "halfwidth": ("ｱｲ", 2),
    "emoji": ("👩\u200d👩\u200d👧\u200d👦x", 3),
}


START = 2  # columns of the mark before the prompt


@pytest.mark.timeout(60)
def test_the_cursor_stands_behind_the_text_to_the_cell(workspace: Workspace) -> None:
    terminal = Terminal("--workspace", str(workspace.root))
    try:
        terminal.until(lambda seen: "Ask, or /" in seen)
        for text, width in TEXTS.values():
            terminal.type(text)
            terminal.until(lambda _seen, width=width: terminal.screen.cursor.x == START + width)
            terminal.type("\x1b[D")
            last = 2 if text[-1] in "Ｂ" else 1
            terminal.until(lambda _seen, left=width - last: terminal.screen.cursor.x == START + left)
            terminal.type("\x03")
            terminal.until(lambda seen: "Ask, or /" in seen and terminal.screen.cursor.x == START)
    finally:
        terminal.close()


@pytest.mark.timeout(60)
def test_a_line_of_wide_characters_wraps_at_the_edge(workspace: Workspace) -> None:
    terminal = Terminal("--workspace", str(workspace.root))
    try:
        terminal.until(lambda seen: "Ask, or /" in seen)
        terminal.type("字" * 60)
        terminal.until(lambda seen: seen.count("字") == 60)
        lines = [line for line in terminal.text.splitlines() if "字" in line]
        assert [line.count("字") for line in lines] == [38, 22]
        terminal.until(lambda _seen: terminal.screen.cursor.x == START + 2 * 22)
    finally:
        terminal.close()
