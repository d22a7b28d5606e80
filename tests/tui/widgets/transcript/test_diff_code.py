"""A diff in the transcript: numbers of the new file's lines, those of the old one where they were removed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from agent.tools.files.changes import file_diff
from tui.themes.own import THEMES
from tui.themes.variables import variables_for
from tui.widgets.transcript.diff_code import diff_lines, diff_rows
from tui.widgets.transcript.styles import TranscriptStyles

STYLES = TranscriptStyles.of_theme(variables_for(THEMES[0]) | dict(THEMES[0].variables), Style())


def shown(diff: str, width: int = 60) -> list[str]:
    return ["".join(segment.text for segment in line).rstrip() for line in diff_lines(diff, width, STYLES)]


def test_each_line_has_its_number_and_its_sign() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 31))
    new = old.replace("line 2\n", "line two\nadded\n").replace("line 29\n", "")
    diff = file_diff("calc.py", old.encode(), new.encode())
    assert [line.strip() for line in shown(diff)] == [
        "1  line 1", "2 -line 2", "2 +line two", "3 +added", "4  line 3", "5  line 4", "6  line 5",
        "⋮", "27  line 26", "28  line 27", "29  line 28", "29 -line 29", "30  line 30",
    ]  # fmt: skip
    assert diff_rows(diff) == 12


def test_code_has_the_colours_of_its_language() -> None:
    diff = file_diff("calc.py", b"", b'def add():\n    return "x"\n')
    segments = [segment for line in diff_lines(diff, 60, STYLES) for segment in line]
    colours = {segment.text.strip(): segment.style.color for segment in segments if segment.style}
    assert colours["def"] == STYLES.keyword.color
    assert STYLES.string.color in colours.values()


@pytest.mark.parametrize("width", [8, 20, 45, 200])
@given(st.text(max_size=200), st.text(max_size=200))
def test_every_line_has_the_width(width: int, old: str, new: str) -> None:
    diff = file_diff("a.txt", old.encode(), new.encode()) if old != new else ""
    lines = diff_lines(diff, width, STYLES)
    assert not any(character < " " for line in lines for segment in line for character in segment.text)
    assert all(sum(cell_len(segment.text) for segment in line) == width for line in lines)
