"""Paragraphs of a text: hard-wrapped lines joined; lists, headings, tables, code and verse kept apart.

    "A lease is a lock\\nwith an end.\\n\\n  o  Shared."  →  prose "A lease is a lock with an end.", item "Shared."

A line goes on in the next where it was too long for the next word to fit. A block of lines of which most are shorter
than that (verse, a list without marks, a log) is no prose: each of its lines is a paragraph.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from foundation.text.folding import UNSPACED

NARROWEST = 40  # columns: no text is wrapped at less
MOST_WRAPPED = 0.7  # of a block's lines that are full, from which on it is wrapped prose
RAGGED = 4  # columns that a full line may lack
RAGGED_CJK = 0.2  # the same for Chinese that is wrapped by characters, as a part
BESIDE_WIDTH = 0.85  # of the text's width, which a block of two lines must have to be taken for wrapped
LONGEST_HEADING = 64  # characters
WIDE_TEXT = 200  # columns: longer lines are not wrapped

_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_FURNITURE = re.compile(r"\n*[^\n]*\[Page \d+\][ \t]*(?:\n+\f\n*[^\n]+(?=\n)|(?=\n|\Z))|\n\f[^\n]+(?=\n)")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+\S|(?:\d{1,3}\.)+(?:\d{1,3})?[ \t]+[A-Z][^!?]{0,70}(?<![.,;])$|Appendix [A-Z]\b[^!?]{0,60}$"
    r"|第[一二三四五六七八九十百零〇\d]{1,5}[章节篇部条](?:[ \t\u3000][^。！？；，]{0,30})?$)"
)
_RULE = re.compile(r"[ \t]*([=\-*~_+|# ])\1{2,}[=\-*~_+|# \t]*$")
_ITEM = re.compile(
    r"[ \t]*(?:[-*+•·>o]|\(?(?:[a-z]|[ivx]{1,4}|\d{1,3})[.)]|\d{1,2}[.．]\d{1,3}(?=[\s\u3000]))[\s\u3000]+(?=\S)"
    r"|[ \t]*[^\s:：][^:：\n]{0,40}:[ \t]{2,}(?=\S)|[ \t]*（[一二三四五六七八九十\d]{1,3}）"
)
_LABEL = re.compile(r"[ \t]*\d+[.．]\d|.*[:：]\s*$")  # a marker that is part of what is said
_NUMBERED = re.compile(r"[ \t]*\(?\d")
_ROW = re.compile(r"\S[ \t]{3,}\S|\||\t\S")
_CODE = re.compile(
    r"[{};\\]\s*$|::=|^\s*[A-Za-z-]+\s*=\s|\w\(.*\)\s*:?$|^\s*(?:>>>|\$ |def |class |if .*:$|import |return )"
)
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][\"'”’)\]」』）》】]*$")
_CJK_END = re.compile(f"[{UNSPACED}，、；：。！？”’）》】」』·—]$")
_CJK_START = re.compile(f"[{UNSPACED}“‘（《【「『，。；：、！？）》】」』0-9]")
_LETTER_HYPHEN = re.compile(r"[^\W\d_]-$")


class ParagraphKind(StrEnum):
    """How a paragraph is set."""

    HEADING = "heading"
    PROSE = "prose"
    ITEM = "item"
    ROW = "row"  # of a table
    LINE = "line"  # of verse, code, a log, an address


class Paragraph(Struct, frozen=True):
    """A paragraph on one line. `start` and `end`: where its lines are in the text, markers of lists left out."""

    kind: ParagraphKind
    text: str
    start: int
    end: int


class _Line(Struct, frozen=True):
    text: str  # without the white space at its end
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())


def paragraphs(text: str) -> list[Paragraph]:
    """The paragraphs of a text in their order; none is blank. Headers and footers between pages are left out."""
    blocks = list(_blocks(text))
    width = _text_width(blocks)
    found: list[Paragraph] = []
    for block, after_page in blocks:
        for lines in _runs(block, width):
            paragraph = _paragraph(lines)
            if paragraph is None:
                continue
            if after_page and found and lines[0] is block[0] and _goes_on(found[-1], paragraph):
                before = found.pop()
                joined = before.text + _joint(before.text, paragraph.text) + paragraph.text
                paragraph = Paragraph(before.kind, joined, before.start, paragraph.end)
            underlined = len(block) == 2 and _RULE.match(block[1].text) is not None
            if underlined or (width > 0 and len(block) == 1 and _is_heading(paragraph)):
                paragraph = replace(paragraph, kind=ParagraphKind.HEADING)
            found.append(paragraph)
    return found


def _is_heading(paragraph: Paragraph) -> bool:
    """Whether a line by itself, in a text of wrapped lines, names what follows."""
    text = paragraph.text
    numbered = _NUMBERED.match(text) is not None and text.endswith(".") and ". " in text
    return len(text) <= LONGEST_HEADING and (
        numbered or (paragraph.kind is ParagraphKind.LINE and not _SENTENCE_END.search(text) and not _CODE.search(text))
    )


def _goes_on(before: Paragraph, after: Paragraph) -> bool:
    """Whether a paragraph goes on behind a page break."""
    return (
        before.kind in {ParagraphKind.PROSE, ParagraphKind.ITEM, ParagraphKind.LINE}
        and after.kind in {ParagraphKind.PROSE, ParagraphKind.LINE}
        and not _SENTENCE_END.search(before.text)
        and (after.text[0].islower() or _CJK_START.match(after.text) is not None)
    )


def _blocks(text: str) -> Iterator[tuple[list[_Line], bool]]:
    """Runs of lines without a blank one between them, and whether a page break is before each."""
    start, after_page = 0, False
    for furniture in (*_FURNITURE.finditer(text), None):
        end = furniture.start() if furniture else len(text)
        block: list[_Line] = []
        last_end = start
        for match in _LINE.finditer(text, start, end):
            line = _Line(match.group().rstrip(), match.start())
            if block and (not line.text or text[last_end : match.start()].count("\n") > 1):
                yield block, after_page
                block, after_page = [], False
            last_end = match.end()
            if line.text:
                block.append(line)
        if block:
            yield block, after_page
        if furniture:
            start, after_page = furniture.end(), True


def _text_width(blocks: Sequence[tuple[list[_Line], bool]]) -> int:
    """Columns at which the text is wrapped: the widest line of most blocks of several lines; 0 where there are none."""
    widths = sorted(max(map(_width, block)) for block, _ in blocks if len(block) > 2 and _is_wrapped(block, 0))
    return widths[len(widths) // 2] if widths else 0


def _width(line: _Line) -> int:
    text = line.text.rstrip()
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(c) in "WF") for c in text)


def _is_wrapped(block: Sequence[_Line], width: int) -> bool:
    """Whether most lines of a block are as full as the widest allows."""
    widest = max(map(_width, block))
    if len(block) < 2 or not NARROWEST <= widest <= WIDE_TEXT:
        return False
    pairs = [(line, after) for line, after in pairwise(block) if not _begins(after)]
    pairs = [pair for pair in pairs if not _SENTENCE_END.search(pair[0].text)]
    if not pairs or (len(pairs) > 1 and all(_begins_verse(after.text) for _, after in pairs)):
        return False
    full = sum(_is_full(line, after, max(widest, int(BESIDE_WIDTH * width))) for line, after in pairs)
    return full >= MOST_WRAPPED * len(pairs)


def _begins_verse(line: str) -> bool:
    return line.lstrip()[:1].isupper() and not line.isupper()


def _is_full(line: _Line, after: _Line, width: int) -> bool:
    """Whether the first word of the next line would not have fitted on the line."""
    word = after.text.split(maxsplit=1)[0]
    if _CJK_START.match(word):
        return _width(line) > (1 - RAGGED_CJK) * width
    return _width(line) + 1 + len(word) + RAGGED > width


def _begins(line: _Line) -> bool:
    """Whether the line begins a paragraph of its own."""
    return bool(
        _ITEM.match(line.text) or _HEADING.match(line.text) or _RULE.match(line.text) or _FENCE.match(line.text)
    )


def _runs(block: list[_Line], width: int) -> Iterator[list[_Line]]:
    """The lines of a block, in groups that are a paragraph each."""
    if len(block) == 2 and _RULE.match(block[1].text):
        yield [block[0]]
        return
    wrapped, fenced, run = _is_wrapped(block, width), False, list[_Line]()
    for line in block:
        fence = _FENCE.match(line.text) is not None
        fenced ^= fence
        if fence or _RULE.match(line.text):
            joins = False
        else:
            joins = bool(run) and not fenced and _continues(run[-1], line, run[0], wrapped=wrapped, width=width)
        if run and not joins:
            yield run
            run = []
        if not fence and not _RULE.match(line.text):
            run.append(line)
    if run:
        yield run


def _continues(before: _Line, line: _Line, first: _Line, *, wrapped: bool, width: int) -> bool:
    if _begins(line) and not (wrapped and _is_within(before, line, width)):
        return False
    if _is_row(before) or _is_row(line) or (_CODE.search(line.text) and not wrapped):
        return False
    item = _ITEM.match(first.text) is not None
    hangs = item and line.indent > first.indent
    if not hangs and (_HEADING.match(before.text) or abs(line.indent - before.indent) > 4):
        return False
    if wrapped or hangs:
        return True
    lowercase = line.text.lstrip()[:1].islower() and not _SENTENCE_END.search(before.text)
    return lowercase and _width(before) >= max(NARROWEST, BESIDE_WIDTH * width)


def _is_within(before: _Line, line: _Line, width: int) -> bool:
    """Whether what looks like a marker is a number within a sentence: “(2) offer you this License”."""
    open_sentence = not _SENTENCE_END.search(before.text) and not before.text.endswith((",", "，"))
    return (
        open_sentence
        and line.indent >= before.indent
        and _NUMBERED.match(line.text) is not None
        and _is_full(before, line, max(NARROWEST, width))
    )


def _is_row(line: _Line) -> bool:
    """Whether the line is a row of a table: cells with three blanks or more between them."""
    marker = _ITEM.match(line.text)
    return _ROW.search(line.text, marker.end() if marker else 0) is not None


def _paragraph(lines: Sequence[_Line]) -> Paragraph | None:
    marker = _ITEM.match(lines[0].text)
    heading = _HEADING.match(lines[0].text) is not None and len(lines) == 1
    bare = marker is None or heading or _LABEL.match(marker.group())
    start = lines[0].indent if bare or marker is None else marker.end()
    text = ""
    for n, line in enumerate(lines):
        piece = re.sub(r"[ \t]+", " ", (line.text[start:] if n == 0 else line.text).strip())
        text += (_joint(text, piece) if text else "") + piece
    if heading:
        text = text.lstrip("#").strip()
    if not any(character.isalnum() for character in text):
        return None
    kind = ParagraphKind.HEADING if heading else ParagraphKind.ROW if _is_row(lines[0]) else None
    if kind is None:
        kind = ParagraphKind.ITEM if marker else ParagraphKind.PROSE if _is_prose(lines, text) else ParagraphKind.LINE
    return Paragraph(kind, text, lines[0].start + start, lines[-1].end)


def _is_prose(lines: Sequence[_Line], text: str) -> bool:
    return len(lines) > 1 or _SENTENCE_END.search(text) is not None


def _joint(before: str, after: str) -> str:
    """What goes between two lines that are joined."""
    if _LETTER_HYPHEN.search(before) and after[:1].islower():
        return ""
    return "" if _CJK_END.search(before) and _CJK_START.match(after) else " "
