"""Output of the demonstration: text, page and read-back side by side; in a pipe, one below the other."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PIL import Image
from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from agent.cli import output
from agent.services.demo import DemoReport, figures
from foundation.files import open_for_reading, resolve_path
from foundation.terminal_text import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_GAP: Final = 2
_FOOT_LINES: Final = 10  # below the columns: figures and the shell's prompt
_MIN_LINES: Final = 12  # of the columns
_MAX_COLUMNS: Final = 60  # terminal columns of each of the three


def show(report: DemoReport, environment: Mapping[str, str]) -> None:
    """Prints to stdout: the picture on a terminal that can show it, else text and the picture's path."""
    if _can_draw(environment):
        _side_by_side(report)
    else:
        for title, text in (("TEXT", report.text), ("READ BACK", report.read_back)):
            output.line(title)
            output.line(text)
    for name, sentence in figures(report):
        output.line(f"{name:<11}{sentence}")


def _can_draw(environment: Mapping[str, str]) -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in environment and environment.get("TERM") != "dumb"


def _side_by_side(report: DemoReport) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    width = min((console.width - 2 * _GAP) // 3, _MAX_COLUMNS)
    height = max(min(width // 2, console.height - _FOOT_LINES), _MIN_LINES)
    table = Table.grid(padding=(0, _GAP, 0, 0))
    for _ in range(3):
        table.add_column(width=width, overflow="fold")
    table.add_row("text", "page", "read back", style="bold")
    table.add_row(
        _beginning(report.text, width, height, console),
        half_blocks(report.picture, width, height),
        _beginning(report.read_back, width, height, console),
    )
    console.print(table)
    console.print()


def _beginning(text: str, width: int, height: int, console: "Console") -> "Text":
    """The lines of the text that fit its column, wrapped here so that all columns have the same height."""
    lines = Text(visible(text).expandtabs(4)).wrap(console, width)
    return Text("\n").join(lines[:height])


def half_blocks(picture: Path, columns: int, rows: int) -> "Text":
    """The picture in at most so many cells of two pixels: ▀, upper pixel as foreground, lower as background."""
    with open_for_reading(resolve_path(picture)) as file, Image.open(file) as opened:
        grey = opened.convert("L")
    side = min(columns, rows * 2)
    small = grey.resize((side, max(side - side % 2, 2)), Image.Resampling.BOX)
    pixels = small.tobytes()
    lines = list[Text]()
    for top in range(0, small.height, 2):
        upper, lower = pixels[top * side : (top + 1) * side], pixels[(top + 1) * side : (top + 2) * side]
        cells = ((f"rgb({a},{a},{a})", f"rgb({b},{b},{b})") for a, b in zip(upper, lower, strict=True))
        lines.append(Text.assemble(*(("▀", Style(color=ink, bgcolor=ground)) for ink, ground in cells)))
    return Text("\n").join(lines)
