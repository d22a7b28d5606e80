"""The focused part of a transcript: which items belong together, and the mark in their margin."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.widgets.transcript.block import Block
from tui.widgets.transcript.items import AnswerBlock, ErrorItem, TranscriptItem, UserItem
from tui.widgets.transcript.line_cache import LineCache
from tui.widgets.transcript.recalled import RecalledLine, RecalledLines

FOCUS_MARK: Final = "▌"


class FocusTarget(Struct, frozen=True):
    """Items that are focused together: a block, a message, or the parts of an answer."""

    items: tuple[TranscriptItem, ...]

    @property
    def first(self) -> TranscriptItem:
        return self.items[0]

    @property
    def is_answer(self) -> bool:
        return isinstance(self.first, AnswerBlock)

    @property
    def has_turn(self) -> bool:
        """Whether it is part of a turn: not what a command gave, or the person's own command printed."""
        match self.first:
            case AnswerBlock(of_command=of_command):
                return not of_command
            case Block(key=key):
                return not key.startswith("shell:")
            case _:
                return True

    def holds(self, item: TranscriptItem) -> bool:
        """Whether this very item is part of it."""
        return any(other is item for other in self.items)

    def line_range(self, cache: LineCache) -> range:
        """Its lines, without the blank line above; none where it has left the transcript."""
        items = self.item_range(cache)
        if not items:
            return range(0)
        start = cache.start(items.start)
        return range(start + _starts_with_gap(cache, start), cache.start(items.stop))

    def item_range(self, cache: LineCache) -> range:
        """Its items' indexes; none where it has left the transcript."""
        index = cache.index_of(self.first)
        if index is None:
            return range(0)
        end = index + 1
        while self.is_answer and end < len(cache) and _continues(cache.items[end], self.first):  # it may still stream
            end += 1
        return range(index, end)

    def first_visible_line(self, cache: LineCache, top: int, rows: int) -> int | None:
        """The line to scroll to, so that it is visible; None where it is, in a view of `rows` lines from `top`.

        Of recalled passages the lines above it come into view too, as far as there is room.
        """
        lines = self.line_range(cache)
        if not lines or (lines.start >= top and lines.stop <= top + rows):
            return None
        if lines.start >= top and len(lines) < rows:
            return lines.stop - rows
        return max(self._passages_start(cache, lines.start), min(lines.stop - rows, lines.start))

    def _passages_start(self, cache: LineCache, line: int) -> int:
        """Where the recalled passages begin that it is one of; else the line given, its own first."""
        index = first = cache.index_of(self.first) or 0
        while first and all(isinstance(cache.items[each], RecalledLine | RecalledLines) for each in (first - 1, first)):
            first -= 1
        if first == index:
            return line
        start = cache.start(first)
        return start + _starts_with_gap(cache, start)


def focus_targets(items: Sequence[TranscriptItem]) -> list[FocusTarget]:
    """What can be focused, from top to bottom. An answer's parts are one target, as are those of what a command gave;
    muted lines are none."""
    targets: list[FocusTarget] = []
    answer: list[TranscriptItem] = []
    for item in items:
        is_part = isinstance(item, AnswerBlock)
        if answer and (not is_part or not _continues(item, answer[0])):
            targets.append(FocusTarget(tuple(answer)))
            answer = []
        if is_part:
            answer.append(item)
        elif isinstance(item, Block | UserItem | RecalledLine | RecalledLines | ErrorItem):
            targets.append(FocusTarget((item,)))
    return [*targets, FocusTarget(tuple(answer))] if answer else targets


def _continues(item: TranscriptItem, first: TranscriptItem) -> bool:
    if not isinstance(item, AnswerBlock) or not isinstance(first, AnswerBlock):
        return False
    return not item.first and item.of_command == first.of_command


def with_mark(strip: Strip, column: int, style: Style) -> Strip:
    """The strip with the mark of the focus in this column."""
    mark = Strip([Segment(FOCUS_MARK, style)], 1)
    return Strip.join([strip.crop(0, column), mark, strip.crop(column + 1)])


def _starts_with_gap(cache: LineCache, start: int) -> bool:
    strip = cache.line(start)
    return strip is not None and not strip.text.strip()
