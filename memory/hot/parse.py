"""MEMORY.md and memory/*.md, read into notes. Reading changes nothing, and leaves unknown text alone.

A timeline entry is

    <!-- 2024-03-15T14:30:00Z -->
    # Flight checked in
    - Flight: CA1234
    - Conversation: [#c_4kx7](./conversations/c_4kx7.md)

and goes on to the next timestamp, or to the next heading that is not deeper than its own. A new line below its link, or
below the list that it is, is a note of its own; one that goes on with the sentence above is not. In Markdown that a
person wrote without timestamps each heading begins a note, and each paragraph that stands before any heading is one.
Comments, front matter and headings with nothing below them are no notes.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct, field

from memory.hot.note import Note, note_id

LONGEST_BLOCK = 2400  # characters: about 600 tokens; a longer section is cut where paragraphs end

_STAMP = re.compile(
    r"\s{0,3}<!--\s*(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)\s*-->\s*\Z"
)
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*\s*\Z")
_FENCE = re.compile(r"\s{0,12}(`{3,}|~{3,})")
_LINK = re.compile(r"\[#?[^\]\n]{1,120}\]\((?:\.{0,2}/)*conversations/([^)\s]{1,200})\.md\)")
_ONLY_A_LINK = re.compile(rf"\s*(?:[-*+]\s+)?(?:[^\[\]\n]{{1,24}}[:：]\s*)?{_LINK.pattern}\s*\Z")
_CONTINUES = re.compile(r"\s|[-*+>|`~#]|\d{1,3}[.)]\s")  # a line that goes on with a list, or is a part of an entry
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+\S")
_OPEN_END = re.compile(r".*[,;:，；：、]\Z|.{60,}(?<![.!?。！？…])\Z")  # a line that the next one goes on with
_DAY_IN_NAME = re.compile(r"(?:^|/)(\d{4}-\d\d-\d\d)[^/]*\.md\Z")


class _Block(Struct):
    """Lines that make a note, while they are gathered."""

    first: int
    time: datetime | None = None
    level: int = 0
    heading: str = ""
    head: int = 0  # the last line of timestamp and heading; 0 where there are none
    lines: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def is_empty(self) -> bool:
        return not any(line.strip() for _, line in self.lines)


def lines_of(text: str) -> list[str]:
    """The text's lines with their ends; only `\\n` ends a line."""
    *whole, rest = text.split("\n")
    lines = [line + "\n" for line in whole]
    return [*lines, rest] if rest else lines


def parse(text: str, path: str) -> tuple[Note, ...]:
    """The notes of the file at `path` (relative to the workspace), in order."""
    day = _file_date(path)
    seen: Counter[tuple[object, ...]] = Counter()
    notes: list[Note] = []
    for block in _pieces(_blocks(text)):
        words = next((line.strip() for _, line in block.lines if line.strip()), "")[:80]
        key = (block.time, block.heading, None if block.time else words)
        notes.append(_note(block, path, day, words, seen[key]))
        seen[key] += 1
    return tuple(notes)


def _note(block: _Block, path: str, day: datetime | None, words: str, occurrence: int) -> Note:
    text_lines = [(number, line) for number, line in block.lines if not is_only_a_link(line)]
    filled = [number for number, line in text_lines if line.strip()]
    link = next((found for _, line in block.lines if "conversations/" in line and (found := _LINK.search(line))), None)
    return Note(
        id=note_id(path, block.time, block.heading, words, occurrence),
        path=path,
        line_first=block.first,
        line_last=max((number for number, line in block.lines if line.strip()), default=max(block.first, block.head)),
        words_first=filled[0] if filled else max(block.first, block.head + 1),
        words_last=filled[-1] if filled else max(block.first, block.head + 1) - 1,
        time=block.time or day,
        heading=block.heading,
        text="".join(line for _, line in text_lines).replace("\r\n", "\n").strip("\n").rstrip(),
        conversation=link.group(1) if link else None,
    )


def is_only_a_link(line: str) -> bool:
    """Whether the line is a link to a conversation, and says nothing else."""
    return "conversations/" in line and _ONLY_A_LINK.match(line) is not None


def _blocks(text: str) -> Iterator[_Block]:
    block = _Block(first=1)
    for number, line, in_fence in outside_comments(text):
        if "<!--" in line and (stamp := _STAMP.match(line)):
            yield block
            block = _Block(first=number, head=number, time=_time(stamp.group(1)))
        elif (
            in_fence
            or "#" not in line
            or not (heading := _HEADING.match(line))
            or _belongs(block, len(heading.group(1)))
        ):
            block.lines.append((number, line))
        elif block.time and not block.heading and block.is_empty:
            block.level, block.heading, block.head = len(heading.group(1)), heading.group(2), number
            block.lines.clear()
        else:
            yield block
            block = _Block(first=number, head=number, level=len(heading.group(1)), heading=heading.group(2))
    yield block


def _belongs(block: _Block, level: int) -> bool:
    """Whether a heading of this level is a part of a timeline entry rather than a note of its own."""
    return block.time is not None and 0 < block.level < level


def outside_comments(text: str) -> Iterator[tuple[int, str, bool]]:
    """Each line's number, the line, and whether it lies in a fence. Front matter and comments are blank lines here.

    A comment that is a timestamp stays, and ends a fence that somebody forgot to close.
    """
    lines = lines_of(text)
    if lines:
        lines[0] = lines[0].removeprefix("\ufeff")
    until = "---" if _has_front_matter(lines) else ""
    fence = ""
    for number, line in enumerate(lines, 1):
        if until:
            over = number > 1 and line.strip() == "---" if until == "---" else until in line
            until = "" if over else until
            yield number, "\n", False
        elif "<!--" in line and _STAMP.match(line):
            fence = ""
            yield number, line, False
        elif not fence and "<!--" in line and line.lstrip().startswith("<!--"):
            until = "" if "-->" in line else "-->"
            yield number, "\n", False
        elif "`" not in line and "~" not in line:
            yield number, line, bool(fence)
        else:
            within = bool(fence)
            fence = _fence_after(fence, line)
            yield number, line, within or bool(fence)


def _has_front_matter(lines: list[str]) -> bool:
    return bool(lines) and lines[0].rstrip() == "---" and any(line.rstrip() == "---" for line in lines[1:60])


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after this line; "" for none."""
    if not (found := _FENCE.match(line)):
        return fence
    if not fence:
        return found.group(1)
    closes = found.group(1).startswith(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _pieces(blocks: Iterator[_Block]) -> Iterator[_Block]:
    """Notes of a size that can be recalled: loose paragraphs one by one, long sections cut where paragraphs end."""
    for block in blocks:
        if block.time is not None:
            entry, below = _split_below(block)
            if entry.heading or not entry.is_empty:
                yield entry
            if below is not None:
                yield from _split_block(below, 1)
        elif not block.is_empty:
            yield from _split_block(block, 1 if not block.heading else LONGEST_BLOCK)


def _split_below(block: _Block) -> tuple[_Block, _Block | None]:
    """A timeline entry, and what a person wrote below the link or the list that ends it, which belongs to no entry."""
    place = _end_of_entry(block.lines)
    first = next((number for number, line in block.lines[place:] if line.strip()), None)
    if first is None:
        return block, None
    entry = _Block(block.first, block.time, block.level, block.heading, block.head, block.lines[:place])
    return entry, _Block(first=first, lines=block.lines[place:])


def _end_of_entry(lines: list[tuple[int, str]]) -> int:
    """The index after the entry's last line: its link, or the last item where it is only a list. A line that is a part
    of the entry ends neither."""
    above, place, is_list, fence = "", 0, True, ""
    for index, (_, line) in enumerate(lines):
        fence = _fence_after(fence, line)
        if not line.strip():
            continue
        if above and not fence and not _CONTINUES.match(line):
            wraps = place == index and (line[0].islower() or _OPEN_END.match(above.strip()))
            if is_only_a_link(above) or (is_list and not wraps and _ends_list(above, lines[index:])):
                return place
            is_list = is_list and bool(wraps)
        elif not above:
            is_list = bool(_ITEM.match(line))
        above, place = line, index + 1
    return len(lines)


def _ends_list(above: str, rest: list[tuple[int, str]]) -> bool:
    """Whether the list that ends with the line `above` does not go on in the rest, which has no link either."""
    return above.lstrip()[0] not in "#>|`~" and not any(_ITEM.match(line) or _LINK.search(line) for _, line in rest)


def _split_block(block: _Block, longest: int) -> Iterator[_Block]:
    piece = _Block(first=block.first, heading=block.heading, head=block.head)
    size = 0
    fence = ""
    for number, line in block.lines:
        if not fence and not line.strip() and size >= longest:
            yield piece
            piece, size = _Block(first=number, heading=block.heading), 0
        fence = _fence_after(fence, line)
        if line.strip() or not piece.is_empty:
            if piece.is_empty and not piece.head:
                piece.first = number
            piece.lines.append((number, line))
            size += len(line)
    if not piece.is_empty:
        yield piece


def _time(stamp: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(stamp.replace(" ", "T", 1).replace(" ", ""))
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _file_date(path: str) -> datetime | None:
    """The day that the file's name tells: `memory/2026-03-14.md`."""
    found = _DAY_IN_NAME.search(path)
    return _time(found.group(1)) if found else None
