"""A unified diff with line numbers, its code in the colours of the file's language."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from rich.segment import Segment
from rich.style import Style

from foundation.terminal_text import visible
from tui.widgets.transcript.code import TAB, highlighted, language_of
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, code_breaks, indent, line_width, wrap_runs

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE: Final = re.compile(r"(?:---|\+\+\+) (?:[ab]/)?(.*)")


def diff_rows(diff: str) -> int:
    """The lines of a diff that `diff_lines` numbers."""
    return sum(bool(sign.strip(" \\") or number) for sign, number, _ in _rows(diff) if sign in "+- ")


def diff_lines(diff: str, width: int, styles: TranscriptStyles) -> list[StyledLine]:
    """The diff as lines of exactly `width` cells: number, sign, code. Gaps, and files where there are several, have
    headings."""
    rows = list(_rows(visible(diff).expandtabs(TAB)))
    digits = max((len(str(number)) for _, number, _ in rows), default=1)
    names = [text for sign, _, text in rows if sign == "f"]
    if len(names) == 1:  # the line above the diff has it
        rows = [row for row in rows if row[0] != "f"]
    language = language_of(PurePath(names[0]).name if names else "")
    colours = _coloured([text for sign, _, text in rows if sign in "+- "], language, styles)
    lines: list[StyledLine] = []
    for sign, number, text in rows:
        if sign not in "+- ":
            runs, mark, style = [(text, styles.panel + styles.comment)], " " * (digits + 3), styles.panel
        else:
            runs = next(colours, [(text, styles.panel)])
            tone = {"+": styles.good, "-": styles.error}.get(sign, styles.comment)
            style = styles.panel + Style(color=tone.color)
            mark = f" {number or '':>{digits}} {sign}"
            runs = [(text, style)] if sign == "-" else runs
        wrapped = wrap_runs(runs or [("", styles.panel)], max(width - digits - 4, 4), code_breaks, keep_spaces=True)
        for row in indent(wrapped, Segment(mark, style), Segment(" " * (digits + 3), styles.panel)):
            lines.append([*row, Segment(" " * max(width - line_width(row), 0), styles.panel)])
    return lines


def _rows(diff: str) -> Iterator[tuple[str, int, str]]:
    """Sign, number and text of each line that is shown. The sign of a file's name is `f`, that of a gap `@`."""
    old = new = left_old = left_new = 0
    shown = ""
    for line in diff.split("\n"):
        if left_old > 0 or left_new > 0:
            sign, text = line[:1] or " ", line[1:]
            if sign == "\\":
                continue
            yield sign, old if sign == "-" else new, text
            old, left_old = (old + 1, left_old - 1) if sign != "+" else (old, left_old)
            new, left_new = (new + 1, left_new - 1) if sign != "-" else (new, left_new)
        elif hunk := _HUNK.match(line):
            if new:
                yield "@", 0, "⋮"
            old, new = int(hunk[1]), int(hunk[3])
            left_old, left_new = int(hunk[2] or 1), int(hunk[4] or 1)
        elif (file := _FILE.match(line)) and file[1] != "/dev/null" and file[1] != shown:
            shown, new = file[1], 0
            yield "f", 0, shown


def _coloured(texts: list[str], language: str, styles: TranscriptStyles) -> Iterator[list[StyledRun]]:
    """The runs of each line, coloured together: a line may be within a string that began above it."""
    row: list[StyledRun] = []
    for text, style in highlighted("\n".join(texts), language, styles):
        first, *others = text.split("\n")
        row += [(first, style)] if first else []
        for other in others:
            yield row
            row = [(other, style)] if other else []
    yield row
