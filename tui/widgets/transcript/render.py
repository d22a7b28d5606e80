"""Renders a Markdown block into lines, and lines into strips."""

from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.transcript.code import code_lines
from tui.widgets.transcript.markdown import parse, prose_lines, table_of
from tui.widgets.transcript.segments import StyledLine
from tui.widgets.transcript.splitter import BlockKind, MarkdownBlock
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.tables import natural_widths, table_lines


def block_lines(block: MarkdownBlock, width: int, look: TranscriptStyles) -> list[StyledLine]:
    """The block's lines, each at most `width` cells."""
    room = max(width - block.indent, width // 2)
    match block.kind:
        case BlockKind.CODE:
            lines = code_lines(block.source, block.language, room, look, labelled=block.opens)
        case BlockKind.TABLE:
            lines = _table(block, room, look)
        case BlockKind.PROSE:
            lines = prose_lines(block.source, room, look)
    if block.indent:
        space = Segment(" " * (width - room), look.text)
        lines = [[space, *line] for line in lines]
    return [[], *lines] if block.gap else lines


def _table(block: MarkdownBlock, width: int, look: TranscriptStyles) -> list[StyledLine]:
    table = table_of(parse(f"{block.header}\n{block.source}").children[0], look)
    if not block.sample:
        return table_lines(table, width, look, opens=block.opens)
    measured = table_of(parse(f"{block.header}\n{block.sample}").children[0], look)
    return table_lines(table, width, look, wanted=natural_widths(measured), opens=False)


def strips(lines: list[StyledLine], width: int, look: TranscriptStyles) -> list[Strip]:
    """Lines as strips of exactly `width` cells on the look's background."""
    return [Strip(line).adjust_cell_length(width, look.text) for line in lines]
