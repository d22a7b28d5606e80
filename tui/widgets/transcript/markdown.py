"""Renders Markdown into lines: paragraphs, lists, quotes, headings and inline markup.

HTML, footnotes and definitions of links are shown as text, so that nothing a model wrote is lost; a URL is shown and
never becomes a terminal link.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from rich.segment import Segment
from rich.style import Style

from tui.widgets.transcript.code import code_lines
from tui.widgets.transcript.splitter import BlockKind, MarkdownBlock
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.tables import MarkdownTable, natural_widths, table_lines
from tui.widgets.transcript.wrap import StyledLine, StyledRun, indent, line_breaks, wrap_runs

if TYPE_CHECKING:  # the parser is loaded with the first answer, after first paint
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

MIN_WIDTH: Final = 8  # cells; deeper nesting is not indented
MAX_NESTING: Final = 100  # levels that are parsed, of which a list takes two: the parser drops what is deeper
_TASK: Final = re.compile(r"\[([ xX])\]\s+")
_BOXES: Final = {" ": "☐ ", "x": "☑ ", "X": "☑ "}
_TILDES: Final = re.compile("~{3,}")
NO_REFERENCES: Final[Mapping[str, str]] = {}


def block_lines(block: MarkdownBlock, width: int, styles: TranscriptStyles) -> list[StyledLine]:
    """The block's lines, each at most `width` cells."""
    inner_width = max(width - block.indent, width // 2)
    match block.kind:
        case BlockKind.CODE:
            lines = code_lines(block.source, block.language, inner_width, styles, labelled=block.opens)
        case BlockKind.TABLE:
            lines = _table(block, inner_width, styles)
        case BlockKind.PROSE:
            lines = prose_lines(block.source, inner_width, styles, block.references)
    if block.indent:
        space = Segment(" " * (width - inner_width), styles.text)
        lines = [[space, *line] for line in lines]
    return [[], *lines] if block.gap else lines


def _table(block: MarkdownBlock, width: int, styles: TranscriptStyles) -> list[StyledLine]:
    """The table, and what the parser takes for something else: a row that begins a list ends a table, an indented table
    is code."""
    nodes = parse(f"{block.header}\n{block.source}", block.references).children
    if not nodes or nodes[0].type != "table":
        source = f"{block.header}\n{block.source}" if block.opens else block.source
        return prose_lines(source, width, styles, block.references)
    table = table_of(nodes[0], styles)
    if block.sample:
        sample = table_of(parse(f"{block.header}\n{block.sample}", block.references).children[0], styles)
        lines = table_lines(table, width, styles, measured=natural_widths(sample), opens=False)
    else:
        lines = table_lines(table, width, styles, opens=block.opens)
    for node in nodes[1:]:
        lines += [[], *_block(node, width, styles)]
    return lines


@lru_cache(maxsize=1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING, "store_labels": True})
    parser.enable(["table", "strikethrough"])
    return parser.disable("reference")  # a definition is shown as text


@lru_cache(maxsize=1)
def _definition_parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING}).disable("inline")


def link_definitions(source: str) -> dict[str, str]:
    """URLs of the links that a Markdown text defines, by the key of their label; those that are safe to link to."""
    env: dict[str, Any] = {}
    _definition_parser().parse(source, env)
    found: dict[str, dict[str, str]] = env.get("references", {})
    return {label: link["href"] for label, link in found.items() if not label.startswith("^")}  # a footnote is none


def label_key(label: str) -> str:
    """What labels that differ in case and spaces have in common."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)


def parse(source: str, references: Mapping[str, str] = NO_REFERENCES) -> "SyntaxTreeNode":
    """The syntax tree of a Markdown text. One that is nested deeper than is parsed is a code block: no text is lost.

    `references`: URLs of links by reference, by the key of their label.
    """
    from markdown_it.tree import SyntaxTreeNode

    env = {"references": {label: {"href": url, "title": ""} for label, url in references.items()}}
    tokens = _parser().parse(source, env)
    if any(token.level >= MAX_NESTING - 1 for token in tokens):
        fence = "~" * max((len(run) + 1 for run in _TILDES.findall(source)), default=3)
        tokens = _parser().parse(f"{fence}\n{source}\n{fence}")
    return SyntaxTreeNode(tokens)


def prose_lines(
    source: str, width: int, styles: TranscriptStyles, references: Mapping[str, str] = NO_REFERENCES
) -> list[StyledLine]:
    """A Markdown text as lines of at most `width` cells."""
    return _children(parse(source, references), width, styles, loose=True)


def _children(node: "SyntaxTreeNode", width: int, styles: TranscriptStyles, *, loose: bool) -> list[StyledLine]:
    lines: list[StyledLine] = []
    for child in node.children:
        if lines and loose:
            lines.append([])
        lines.extend(_block(child, width, styles))
    return lines


def _block(node: "SyntaxTreeNode", width: int, styles: TranscriptStyles) -> list[StyledLine]:
    match node.type:
        case "paragraph":
            return wrap_runs(inline(node, styles, styles.text), width, line_breaks)
        case "heading":
            style = styles.heading if node.tag in {"h1", "h2"} else styles.text + styles.strong
            return wrap_runs(inline(node, styles, style), width, line_breaks)
        case "bullet_list" | "ordered_list":
            return _list(node, width, styles)
        case "blockquote":
            bar = Segment("▎ ", styles.rule)
            return _nested(node, bar, bar, width, styles, loose=True)
        case _:
            return _leaf(node, width, styles)


def _leaf(node: "SyntaxTreeNode", width: int, styles: TranscriptStyles) -> list[StyledLine]:
    match node.type:
        case "fence" | "code_block":
            return code_lines(node.content.rstrip("\n"), node.info.split(" ")[0], width, styles, labelled=True)
        case "hr":
            return [[Segment("─" * width, styles.rule)]]
        case "table":
            return table_lines(table_of(node, styles), width, styles)
        case _:
            return wrap_runs([(node.content or _plain_text(node), styles.text)], width, line_breaks)


def _list(node: "SyntaxTreeNode", width: int, styles: TranscriptStyles) -> list[StyledLine]:
    lines: list[StyledLine] = []
    loose = any(child.type == "paragraph" and not child.hidden for item in node.children for child in item.children)
    first = int(node.attrs.get("start", 1))
    ordered = node.type == "ordered_list"
    column = len(str(first + len(node.children) - 1)) + 2
    for number, item in enumerate(node.children, first):
        if lines and loose:
            lines.append([])
        box = _taken_box(item)
        marker = f"{number}.".ljust(column) + box if ordered else box or "• "
        lines.extend(
            _nested(
                item, Segment(marker, styles.muted), Segment(" " * len(marker), styles.text), width, styles, loose=loose
            )
        )
    return lines


def _taken_box(item: "SyntaxTreeNode") -> str:
    """The box of a task, `[ ]` or `[x]`, which is taken from its text; "" for another item."""
    paragraph = item.children[0] if item.children else None
    parts = paragraph.children[0].children if paragraph and paragraph.type == "paragraph" else []
    token = parts[0].token if parts and parts[0].type == "text" else None
    task = _TASK.match(token.content) if token else None
    if token is None or task is None or (task.end() == len(token.content) and len(parts) == 1):
        return ""
    token.content = token.content[task.end() :]
    return _BOXES[task[1]]


def _nested(
    node: "SyntaxTreeNode", first: Segment, others: Segment, width: int, styles: TranscriptStyles, *, loose: bool
) -> list[StyledLine]:
    inner_width = width - first.cell_length
    if inner_width < MIN_WIDTH:
        return _children(node, width, styles, loose=loose)
    return indent(_children(node, inner_width, styles, loose=loose) or [[]], first, others)


def table_of(node: "SyntaxTreeNode", styles: TranscriptStyles) -> MarkdownTable:
    """The table of a table node."""
    rows = [
        [inline(cell, styles, styles.text) for cell in row.children] for part in node.children for row in part.children
    ]
    alignments = [
        str(cell.attrs.get("style", "")).removeprefix("text-align:") for cell in node.children[0].children[0].children
    ]
    return MarkdownTable(rows[0], rows[1:], alignments)


def inline(node: "SyntaxTreeNode", styles: TranscriptStyles, style: Style) -> list[StyledRun]:
    """The styled runs of an inline node."""
    runs: list[StyledRun] = []
    for child in node.children:
        match child.type:
            case "link" if _is_definition(child):
                runs += [("[", style), *inline(child, styles, style), ("]", style)]
            case "inline" | "link":
                runs += inline(child, styles, style)
                if child.type == "link" and (url := str(child.attrs.get("href", ""))) not in _plain_text(child):
                    runs += [(" (", style), (url, styles.url), (")", style)]
            case "strong":
                runs += inline(child, styles, style + styles.strong)
            case "em":
                runs += inline(child, styles, style + styles.emphasis)
            case "s":
                runs += inline(child, styles, style + styles.strikethrough)
            case "code_inline":
                runs.append((child.content, style + styles.code))
            case "image":
                runs.append(
                    (f"[image: {_plain_text(child) or 'untitled'}] ({child.attrs.get('src', '')})", styles.muted)
                )
            case "softbreak" | "hardbreak":
                runs.append(("\n", style))
            case _:
                runs.append((child.content, style))
    return runs


def _is_definition(link: "SyntaxTreeNode") -> bool:
    """Whether a link by reference is the label of a definition, `[label]: URL`, which is text."""
    before, after = link.previous_sibling, link.next_sibling
    begins = before is None or before.type == "softbreak"
    return "label" in link.meta and begins and after is not None and after.content.startswith(":")


def _plain_text(node: "SyntaxTreeNode") -> str:
    return "".join(_plain_text(child) for child in node.children) if node.children else node.content
