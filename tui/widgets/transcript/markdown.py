"""Markdown made into lines: paragraphs, lists, quotes, headings, and what stands inside them.

HTML stays text, so nothing that a model wrote is swallowed; an address is shown, never made a link.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from rich.segment import Segment
from rich.style import Style

from tui.widgets.transcript.code import code_lines
from tui.widgets.transcript.splitter import BlockKind, MarkdownBlock
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.tables import MarkdownTable, natural_widths, table_lines
from tui.widgets.transcript.wrap import StyledLine, StyledRun, breaks, cut, indented

if TYPE_CHECKING:  # the parser is loaded with the first answer, after first paint
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

NARROWEST: Final = 8  # cells; nesting that leaves less is not indented


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


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def parse(source: str) -> "SyntaxTreeNode":
    """The tree of a Markdown text."""
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(_parser().parse(source))


def prose_lines(source: str, width: int, look: TranscriptStyles) -> list[StyledLine]:
    """A Markdown text as lines of at most `width` cells."""
    return _children(parse(source), width, look, loose=True)


def _children(node: "SyntaxTreeNode", width: int, look: TranscriptStyles, *, loose: bool) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for child in node.children:
        if lines and loose:
            lines.append([])
        lines.extend(_block(child, width, look))
    return lines


def _block(node: "SyntaxTreeNode", width: int, look: TranscriptStyles) -> list[StyledLine]:
    match node.type:
        case "paragraph":
            return cut(inline(node, look, look.text), width, breaks)
        case "heading":
            style = look.heading if node.tag in {"h1", "h2"} else look.text + look.strong
            return cut(inline(node, look, style), width, breaks)
        case "bullet_list" | "ordered_list":
            return _list(node, width, look)
        case "blockquote":
            bar = Segment("▎ ", look.rule)
            return _nested(node, bar, bar, width, look, loose=True)
        case _:
            return _leaf(node, width, look)


def _leaf(node: "SyntaxTreeNode", width: int, look: TranscriptStyles) -> list[StyledLine]:
    match node.type:
        case "fence" | "code_block":
            return code_lines(node.content.rstrip("\n"), node.info.split(" ")[0], width, look, labelled=True)
        case "hr":
            return [[Segment("─" * width, look.rule)]]
        case "table":
            return table_lines(table_of(node, look), width, look)
        case _:
            return cut([(node.content or _words(node), look.text)], width, breaks)


def _list(node: "SyntaxTreeNode", width: int, look: TranscriptStyles) -> list[StyledLine]:
    lines: list[StyledLine] = []
    loose = any(child.type == "paragraph" and not child.hidden for item in node.children for child in item.children)
    first = int(node.attrs.get("start", 1))
    ordered = node.type == "ordered_list"
    column = len(str(first + len(node.children) - 1)) + 2
    for number, item in enumerate(node.children, first):
        if lines and loose:
            lines.append([])
        mark = f"{number}.".ljust(column) if ordered else "• "
        lines.extend(
            _nested(item, Segment(mark, look.muted), Segment(" " * len(mark), look.text), width, look, loose=loose)
        )
    return lines


def _nested(
    node: "SyntaxTreeNode", first: Segment, others: Segment, width: int, look: TranscriptStyles, *, loose: bool
) -> list[StyledLine]:
    room = width - first.cell_length
    if room < NARROWEST:
        return _children(node, width, look, loose=loose)
    return indented(_children(node, room, look, loose=loose) or [[]], first, others)


def table_of(node: "SyntaxTreeNode", look: TranscriptStyles) -> MarkdownTable:
    """The cells of a table's node."""
    rows = [[inline(cell, look, look.text) for cell in row.children] for part in node.children for row in part.children]
    sides = [
        str(cell.attrs.get("style", "")).removeprefix("text-align:") for cell in node.children[0].children[0].children
    ]
    return MarkdownTable(rows[0], rows[1:], sides)


def inline(node: "SyntaxTreeNode", look: TranscriptStyles, style: Style) -> list[StyledRun]:
    """The words of a block, styled."""
    runs: list[StyledRun] = []
    for child in node.children:
        match child.type:
            case "inline" | "link":
                runs += inline(child, look, style)
                if child.type == "link" and (address := str(child.attrs.get("href", ""))) not in _words(child):
                    runs += [(" (", style), (address, look.address), (")", style)]
            case "strong":
                runs += inline(child, look, style + look.strong)
            case "em":
                runs += inline(child, look, style + look.emphasis)
            case "s":
                runs += inline(child, look, style + look.struck)
            case "code_inline":
                runs.append((child.content, style + look.code))
            case "image":
                runs.append((f"[image: {_words(child) or 'untitled'}] ({child.attrs.get('src', '')})", look.muted))
            case "softbreak" | "hardbreak":
                runs.append(("\n", style))
            case _:
                runs.append((child.content, style))
    return runs


def _words(node: "SyntaxTreeNode") -> str:
    return "".join(_words(child) for child in node.children) if node.children else node.content
