"""Renders tables: columns at their natural width if there is room, otherwise the widest are narrowed."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.cells import cell_len
from rich.segment import Segment

from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine, StyledRun, line_breaks, line_width, wrap_runs

GAP: Final = 2
MIN_COLUMN_CELLS: Final = 6
TableCell = list[StyledRun]


class MarkdownTable(Struct, frozen=True):
    """`alignments` has left, right, center or "" for each column."""

    header: list[TableCell]
    rows: list[list[TableCell]]
    alignments: list[str]


def natural_widths(table: MarkdownTable) -> list[int]:
    """The width of each column without wrapping, in cells."""
    return [
        max((_cell_width(row[column]) for row in [table.header, *table.rows] if column < len(row)), default=1)
        for column in range(len(table.header))
    ]


def fit_widths(widths: Sequence[int], width: int) -> list[int] | None:
    """Column widths that fit into `width` with the gaps; the widest are reduced first. None with too many columns."""
    room = width - GAP * (len(widths) - 1)
    if sum(widths) <= room:
        return list(widths)
    if room < sum(min(natural, MIN_COLUMN_CELLS) for natural in widths):
        return None
    low, high = 1, max(widths)
    while low < high:  # the largest limit under which all fit
        middle = (low + high + 1) // 2
        low, high = (middle, high) if sum(min(natural, middle) for natural in widths) <= room else (low, middle - 1)
    return [min(natural, low) for natural in widths]


def table_lines(
    table: MarkdownTable, width: int, styles: TranscriptStyles, *, measured: Sequence[int] = (), opens: bool = True
) -> list[StyledLine]:
    """The table as lines. `measured`: column widths of an earlier block, which this one continues without a header."""
    widths = fit_widths(measured or natural_widths(table), width)
    if widths is None:
        return _records(table, width, styles)
    lines: list[StyledLine] = []
    if opens:
        header = [[(text, style + styles.strong) for text, style in cell] for cell in table.header]
        lines += _row(header, widths, table.alignments, styles)
        lines.append(_join_columns([Segment("─" * column_width, styles.rule) for column_width in widths], styles))
    for row in table.rows:
        lines += _row(row, widths, table.alignments, styles)
    return lines


def _row(row: list[TableCell], widths: list[int], alignments: list[str], styles: TranscriptStyles) -> list[StyledLine]:
    columns = [wrap_runs(cell, column_width, line_breaks) for cell, column_width in zip(row, widths, strict=False)]
    height = max((len(column) for column in columns), default=0)
    lines: list[StyledLine] = []
    for number in range(height):
        line: StyledLine = []
        for column, column_width, alignment in zip(columns, widths, alignments, strict=False):
            content = column[number] if number < len(column) else []
            space = max(column_width - line_width(content), 0)
            left = {"right": space, "center": space // 2}.get(alignment, 0)
            gap = GAP if line else 0
            line += [Segment(" " * (gap + left), styles.text), *content, Segment(" " * (space - left), styles.text)]
        lines.append(line)
    return lines


def _join_columns(columns: list[Segment], styles: TranscriptStyles) -> StyledLine:
    line: StyledLine = []
    for column in columns:
        line += [Segment(" " * GAP, styles.text), column] if line else [column]
    return line


def _records(table: MarkdownTable, width: int, styles: TranscriptStyles) -> list[StyledLine]:
    """Each row as a list of `name: cell` lines, for more columns than fit."""
    lines: list[StyledLine] = []
    for row in table.rows:
        for name, cell in zip(table.header, row, strict=False):
            label = [(text, styles.muted) for text, _ in name]
            lines += wrap_runs([*label, (": ", styles.muted), *cell], width, line_breaks)
        lines.append([Segment("─" * min(width, 20), styles.rule)])
    return lines


def _cell_width(cell: TableCell) -> int:
    return max(cell_len(line) for line in "".join(text for text, _ in cell).split("\n"))
