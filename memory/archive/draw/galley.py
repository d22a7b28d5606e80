"""A galley: text set in one long run, head lines in their places, before it is known where the page ends."""

from collections.abc import Sequence

from msgspec import Struct, structs

from memory.archive.draw.flow import Stretch
from memory.archive.draw.heads import ReadHead, head_line, read_head_line


class Laid(Struct, frozen=True):
    """`length` characters of stretch `key` from `start` stand in a page's text from `page_start`."""

    key: int
    start: int
    length: int
    page_start: int


class Place(Struct, frozen=True):
    """Where the text goes on: the stretch, the character in it, and that character's line, from 1."""

    stretch: int
    start: int = 0
    line: int = 1


class Galley(Struct, frozen=True):
    """`begin` is where its first character stands. One of `laid` a stretch, in order, from that of `begin` on."""

    text: str
    begin: Place
    heads: tuple[ReadHead, ...]
    laid: tuple[Laid, ...]

    @property
    def seams(self) -> list[int]:
        """Where a page may end so that the next begins with an entry: before the newline that its head line follows."""
        return [head.begin - 1 for head in self.heads if head.begin]


def compose(stretches: Sequence[Stretch], begin: Place, most: int) -> Galley:
    """What follows from `begin`, `most` characters at least where there are as many."""
    parts, heads, laid = list[str](), list[ReadHead](), list[Laid]()
    at, start, line = 0, begin.start, begin.line
    for stretch in stretches[begin.stretch :]:
        if at >= most and at:
            break
        if stretch.head is not None:
            words = head_line(structs.replace(stretch.head, line=line), goes_on=start > 0)
            if at:
                parts.append("\n")
                at += 1
            heads.append(ReadHead(at, at + len(words), read_head_line(words)))
            parts.append(words)
            at += len(words)
        piece = stretch.text[start : start + most]
        laid.append(Laid(stretch.key, start, len(piece), at))
        parts.append(piece)
        at, start, line = at + len(piece), 0, 1
    return Galley("".join(parts), begin, tuple(heads), tuple(laid))


def cut(galley: Galley, end: int) -> Galley:
    """Its first `end` characters. No head line may be cut through, nor parted from the first of its text."""
    heads = tuple(head for head in galley.heads if head.end <= end)
    begun = (part for part in galley.laid if part.page_start < end or (part.page_start == end and not part.length))
    laid = tuple(structs.replace(part, length=min(part.length, end - part.page_start)) for part in begun)
    return Galley(galley.text[:end], galley.begin, heads, laid)


def after(galley: Galley, stretches: Sequence[Stretch]) -> Place | None:
    """Where the text goes on after the galley's end; None where it has all."""
    last, index = galley.laid[-1], galley.begin.stretch + len(galley.laid) - 1
    text, end = stretches[index].text, last.start + last.length
    if end < len(text):
        line = galley.begin.line if len(galley.laid) == 1 else 1
        return Place(index, end, line + text.count("\n", last.start, end))
    return Place(index + 1) if index + 1 < len(stretches) else None
