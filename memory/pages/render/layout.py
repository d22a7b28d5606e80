"""Layout: text and head lines in one sequence, before the page break is chosen.

A page that cannot hold everything ends at an entry, a paragraph, a line or a word, in that order, else anywhere. A
break further from the end of the page than its window is not used: the page would lose more than its reader gains.
"""

from collections.abc import Sequence

from msgspec import Struct, structs

from memory.pages.render.entry_heads import EntryHead, ParsedHead, head_line, read_head_line


class LayoutText(Struct, frozen=True):
    """A block of text to lay out on pages. `key` is the caller's key: an entry's seq.

    A block with a head begins a line, and so does each page on which it continues. Without heads the pages' texts
    joined are the blocks' texts joined, to the byte.
    """

    text: str
    head: EntryHead | None = None
    key: int = 0


class LayoutSpan(Struct, frozen=True):
    """`length` characters of block `key` from `start` are in a page's text from `page_start`."""

    key: int
    start: int
    length: int
    page_start: int


class LayoutPosition(Struct, frozen=True):
    """Where the text continues: the block, the character in it, and the line of that character, from 1."""

    stretch: int
    start: int = 0
    line: int = 1


class PageLayout(Struct, frozen=True):
    """`begin` is where its first character stands. One of `laid` a stretch, in order, from that of `begin` on."""

    text: str
    begin: LayoutPosition
    heads: tuple[ParsedHead, ...]
    laid: tuple[LayoutSpan, ...]

    @property
    def seams(self) -> list[int]:
        """Where a page may end so that the next begins with an entry: before the newline that its head line follows."""
        return [head.begin - 1 for head in self.heads if head.begin]


def lay_out(texts: Sequence[LayoutText], begin: LayoutPosition, most: int) -> PageLayout:
    """The text from `begin` on, `most` characters at least where there are as many."""
    parts, heads, laid = list[str](), list[ParsedHead](), list[LayoutSpan]()
    at, start, line = 0, begin.start, begin.line
    for block in texts[begin.stretch :]:
        if at >= most and at:
            break
        if block.head is not None:
            words = head_line(structs.replace(block.head, line=line), goes_on=start > 0)
            if at:
                parts.append("\n")
                at += 1
            heads.append(ParsedHead(at, at + len(words), read_head_line(words)))
            parts.append(words)
            at += len(words)
        piece = block.text[start : start + most]
        laid.append(LayoutSpan(block.key, start, len(piece), at))
        parts.append(piece)
        at, start, line = at + len(piece), 0, 1
    return PageLayout("".join(parts), begin, tuple(heads), tuple(laid))


def cut_layout(galley: PageLayout, end: int) -> PageLayout:
    """Its first `end` characters. No head line may be cut through, nor parted from the first of its text."""
    heads = tuple(head for head in galley.heads if head.end <= end)
    spans = (part for part in galley.laid if part.page_start < end or (part.page_start == end and not part.length))
    laid = tuple(structs.replace(part, length=min(part.length, end - part.page_start)) for part in spans)
    return PageLayout(galley.text[:end], galley.begin, heads, laid)


def next_position(galley: PageLayout, texts: Sequence[LayoutText]) -> LayoutPosition | None:
    """Where the text continues after this layout; None at its end."""
    last, index = galley.laid[-1], galley.begin.stretch + len(galley.laid) - 1
    text, end = texts[index].text, last.start + last.length
    if end < len(text):
        line = galley.begin.line if len(galley.laid) == 1 else 1
        return LayoutPosition(index, end, line + text.count("\n", last.start, end))
    return LayoutPosition(index + 1) if index + 1 < len(texts) else None


ENTRY, PARAGRAPH, LINE = 1 / 8, 1 / 16, 1 / 32  # of the page's characters
WORD = 24  # characters


def page_break(galley: PageLayout, most: int) -> int:
    """How many of the layout's first `most` characters, which fit the page, it should have; one at least.

    A head line is never split, nor separated from the first of its text.
    """
    text = galley.text
    seam = max((seam for seam in galley.seams if seam <= most), default=0)
    head = next((head for head in reversed(galley.heads) if head.begin <= most), None)
    least = head.end + 1 if head else 1
    if seam and (most < least or seam >= most * (1 - ENTRY)):
        return seam
    return (
        _after_blank_line(text, max(least, int(most * (1 - PARAGRAPH))), most)
        or _last_break(text, "\n", max(least, int(most * (1 - LINE))), most)
        or _last_break(text, " ", max(least, most - WORD), most)
        or most
    )


def _last_break(text: str, separator: str, least: int, most: int) -> int:
    """The last offset between the two that follows the sign; 0 where there is none."""
    return text.rfind(separator, least - 1, most) + 1


def _after_blank_line(text: str, least: int, most: int) -> int:
    end = _last_break(text, "\n", least, most)
    while end:
        before = text.rfind("\n", 0, end - 1)
        if before >= 0 and not text[before : end - 1].strip():
            return end
        end = _last_break(text, "\n", least, end - 1)
    return 0
