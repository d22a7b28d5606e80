"""Transcript widget: draws cached lines, follows its end, and wraps the visible part first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from tui.typed_app import app_of
from tui.widgets.transcript.items import GUTTER, AnswerStream, TranscriptItem, guessed_height
from tui.widgets.transcript.line_cache import LineCache
from tui.widgets.transcript.styles import TranscriptStyles
from tui.widgets.transcript.wrap import StyledLine

WIDEST: Final = 104  # cells; longer lines are hard to read
RATE: Final = 1 / 15  # seconds between two looks at an answer that is coming
SLICE: Final = 40  # lines wrapped at once after a resize, so that a key is never late
ABOVE: Final = 3  # lines and pieces left above a piece that was scrolled to
KEPT: Final = 6_000  # lines kept; older ones are made again when they come into view


class Transcript(ScrollView, can_focus=False):
    """Pieces from top to bottom. `add` appends, `feed` lets an answer come, `put_before` brings in what is older."""

    ALLOW_SELECT = True

    class TopReached(Message):
        """The person scrolled up to the first line: there may be more before it."""

    class BottomReached(Message):
        """The person scrolled down to the last line: there may be more after it."""

    @dataclass
    class NewBelowChanged(Message):
        """Whether something came below what the person reads."""

        there: bool

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.following = True
        self._unseen = False  # whether something came below while the person reads above
        self.line_cache = LineCache(self._make)
        self._look: TranscriptStyles | None = None
        self._width = 80  # what lines are made for
        self._stream: AnswerStream | None = None
        self._settled = 0  # pieces before the open end of the answer
        self._clock: Timer | None = None
        self._rewrapping: Timer | None = None
        self._pinning = False
        self._painting = False

    # What stands in it

    def __len__(self) -> int:
        return len(self.line_cache)

    def add(self, *pieces: TranscriptItem) -> None:
        """Appends; an answer that is open ends here."""
        self.end_stream()
        first = self.line_cache.total
        self.line_cache.append(pieces)
        self._grown(first)

    def put_before(self, pieces: Sequence[TranscriptItem]) -> None:
        """Older pieces, above; what is in view stays where it is. What is seen is made first, the rest in slices."""
        index, within = self._anchor()
        width = min(self._width, WIDEST)
        self.line_cache.prepend(pieces, [guessed_height(piece, width) for piece in pieces])
        self._settled += len(pieces)
        self._size_content()
        self._restore((index + len(pieces), within))
        self._settle_view()
        self._wrap_the_rest()
        self.refresh()

    def put_after(self, pieces: Sequence[TranscriptItem], *, more: bool) -> None:
        """Newer pieces, below; what is in view stays where it is. `more`: there is something after them, too."""
        self.following = False
        self.line_cache.append(pieces)
        self._tell_unseen(there=more)
        self._size_content()
        self.refresh()

    def reach(self, piece: TranscriptItem, *, more: bool) -> None:
        """Scrolls to this very piece, which then stands a little below the top. `more` as for `put_after`."""
        index = self.line_cache.find(piece)
        if index is None:
            return
        self.following = False
        self._tell_unseen(there=more)
        for near in range(max(index - ABOVE, 0), min(index + self.size.height, len(self.line_cache))):
            self.line_cache.lines_of(near)
        self._size_content()
        self._pin(max(self.line_cache.start(index) - ABOVE, 0))
        self.refresh()

    def show(self, pieces: Sequence[TranscriptItem]) -> None:
        """These alone, from the first line. What is seen is made first, the rest in slices."""
        self.clear()
        self.following = False
        width = min(self._width, WIDEST)
        self.line_cache.prepend(pieces, [guessed_height(piece, width) for piece in pieces])
        self._size_content()
        self._settle_view()
        self._wrap_the_rest()
        self.refresh()

    def take_away(self, piece: TranscriptItem) -> None:
        """This piece is gone, where it stood."""
        index = self.line_cache.find(piece)
        if index is None:
            return
        anchor = self._anchor()
        cut = self.line_cache.cut(index)
        self.line_cache.append([each for each, _ in cut[1:]], cut)
        self._settled -= index < self._settled
        self._size_content()
        self._restore(anchor)
        self.refresh()

    def clear(self) -> None:
        self.end_stream()
        self.line_cache.cut(0)
        self.following = True
        self._tell_unseen(there=False)
        self._size_content()
        self._pin(0)
        self.refresh()

    # An answer that is coming

    def feed(self, text: str, *, marked: bool = True) -> None:
        """More of the answer. The first call opens it; `marked` says whether it carries the speaker's mark."""
        if self._stream is None:
            self._stream = AnswerStream(marked=marked)
            self._settled = len(self.line_cache)
            self._clock = self.set_interval(RATE, self.advance)
        self._stream.feed(text)

    def end_stream(self) -> None:
        """The answer is whole."""
        if self._stream is None:
            return
        if self._clock:
            self._clock.stop()
        last, self._stream = self._stream.close(), None
        self._replace_open(last, [])

    def advance(self) -> None:
        """Draws what has come of the answer since the last frame."""
        if self._stream and self._stream.waits:
            self._replace_open(*self._stream.advance())

    def _replace_open(self, done: list[TranscriptItem], still_open: list[TranscriptItem]) -> None:
        before = self.line_cache.cut(self._settled)
        first = self.line_cache.total
        self.line_cache.append(done, before)
        self._settled = len(self.line_cache)
        self.line_cache.append(still_open, before)
        self._grown(first)

    # Lines

    @property
    def look(self) -> TranscriptStyles:
        """The styles of the theme in use."""
        if self._look is None:
            self._look = TranscriptStyles.of_theme(app_of(self).theme_variables, self.rich_style)
        return self._look

    @property
    def left_margin(self) -> int:
        return max((self._width - 1 - WIDEST) // 2, 0)  # one column is the scrollbar's

    def _make(self, piece: TranscriptItem) -> list[Strip]:
        look = self.look
        lines = piece.lines(max(min(self._width - 1, WIDEST), 10), look)
        left = Segment(" " * self.left_margin, look.text)
        return strips([[left, *line] for line in lines] if self.left_margin else lines, self._width, look)

    def _grown(self, first: int) -> None:
        """After something changed from line `first` on: no line above it is drawn again, unless all of them move."""
        last = max(self.line_cache.total, self.virtual_size.height)
        if self.following and self.line_cache.rendered > KEPT:
            self.line_cache.let_go(len(self.line_cache) - self.size.height, self.line_cache.rendered - KEPT // 2)
        if not self.following:
            self._tell_unseen(there=True)
        self._size_content()
        if self.following:
            self._pin(self.max_scroll_y)
        self.refresh_lines(first, last - first)

    def _size_content(self) -> None:
        size = Size(self._width, self.line_cache.total)
        if size == self.virtual_size:
            return
        room = self.container_size.height
        if (size.height > room) != (self.virtual_size.height > room):
            self.virtual_size = size  # the scrollbar comes or goes: a new layout
        else:
            self.set_reactive(ScrollView.virtual_size, size)  # pyright: ignore[reportArgumentType] - it is one on the class
            self._scroll_update(size)

    def render_lines(self, crop: Region) -> list[Strip]:
        self._painting = True  # offsets are for a selection's questions; a frame does without them
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        width, number = self.size.width, scroll_y + y
        if number >= self.line_cache.total:
            return Strip.blank(width, self.look.text)
        if not self.line_cache.is_made(self.line_cache.at(number)[0]):
            self.call_later(self._settle_view)
        strip = self.line_cache.line(number) or Strip.blank(width, self.look.text)
        if (selection := self.text_selection) and (span := selection.get_span(number)):
            strip = painted(strip, span, self.look.selection)
        strip = strip.crop_extend(scroll_x, scroll_x + width, self.look.text)
        return strip if self._painting else strip.apply_offsets(scroll_x, number)

    # Where the person looks

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._pinning:
            self.following = new_value >= self.max_scroll_y
            if new_value <= 0 < old_value:
                self.post_message(self.TopReached())
            if self.following and new_value > old_value:
                self.post_message(self.BottomReached())
        if self.following:
            self._tell_unseen(there=False)
        self._settle_view()

    def to_end(self) -> None:
        """Down to the newest line, and follow from there."""
        self.following = True
        self._tell_unseen(there=False)
        self._settle_view()
        self._pin(self.max_scroll_y)
        self.refresh()

    def _tell_unseen(self, *, there: bool) -> None:
        if there != self._unseen:
            self._unseen = there
            self.post_message(self.NewBelowChanged(there))

    def _anchor(self) -> tuple[int, int]:
        return self.line_cache.at(round(self.scroll_y))

    def _restore(self, anchor: tuple[int, int]) -> None:
        """Scrolls so that this line of this piece is the first in view; to the end where it follows."""
        index, within = anchor
        if self.following or index >= len(self.line_cache):
            self._pin(self.max_scroll_y)
            return
        self._pin(self.line_cache.start(index) + min(within, self.line_cache.height(index) - 1))

    def _pin(self, y: float) -> None:
        self._pinning = True
        self.scroll_to(y=y, animate=False, immediate=True, force=True)
        self._pinning = False

    def _settle_view(self) -> None:
        """Wraps what is in view and was not yet."""
        if not len(self.line_cache) or not self.size.height:
            return
        anchor, total = self._anchor(), self.line_cache.total
        if self.following:
            index, room = len(self.line_cache), self.size.height
            while index > 0 and room > 0:
                index -= 1
                room -= len(self.line_cache.lines_of(index))
        else:
            index, room = anchor[0], self.size.height + anchor[1]
            while index < len(self.line_cache) and room > 0:
                room -= len(self.line_cache.lines_of(index))
                index += 1
        if self.line_cache.total != total:
            self._size_content()
            self._restore(anchor)
            self.refresh()

    # Another width, another theme

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width and event.size.width != self._width:
            self._rewrap(event.size.width)
        elif self.following:
            self._pin(self.max_scroll_y)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self._look is None or not self.is_attached:
            return
        fresh = TranscriptStyles.of_theme(app_of(self).theme_variables, self.rich_style)
        if fresh != self._look:
            self._look = fresh
            self._rewrap(self._width)

    def _rewrap(self, width: int) -> None:
        """What is in view comes first, the rest in slices."""
        anchor = self._anchor()
        before, self._width = self._width, width
        self.line_cache.drop_all(before / width)
        self._size_content()
        self._restore(anchor)
        self._settle_view()
        self._wrap_the_rest()
        self.refresh()

    def _wrap_the_rest(self) -> None:
        if self._rewrapping is None and len(self.line_cache):
            self._rewrapping = self.set_interval(0.02, self._rewrap_slice)

    def _rewrap_slice(self) -> None:
        """The nearest pieces that wait, a few lines at a time."""
        anchor = self._anchor()
        waiting = self.line_cache.nearest_unmade(anchor[0])
        if not waiting or self.line_cache.rendered >= KEPT:
            if self._rewrapping:
                self._rewrapping.stop()
                self._rewrapping = None
            return
        room = SLICE
        for index in waiting:
            room -= len(self.line_cache.lines_of(index))
            if room <= 0:
                break
        self._size_content()
        self._restore(anchor)

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else self.line_cache.total, self.line_cache.total - 1)
        lines = [(number, strip) for number in range(first, last + 1) if (strip := self.line_cache.line(number))]
        return selected_text(lines, selection, self.left_margin), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()


def strips(lines: list[StyledLine], width: int, look: TranscriptStyles) -> list[Strip]:
    """Lines as strips of exactly `width` cells on the look's background."""
    return [Strip(line).adjust_cell_length(width, look.text) for line in lines]


def painted(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """The strip with characters `span` on another background; -1 is its end."""
    text = strip.text
    start, end = span
    end = len(text) if end == -1 else min(end, len(text))
    left, right = cell_len(text[:start]), cell_len(text[:end])
    if left >= right:
        return strip
    before, within, after = strip.crop(0, left), strip.crop(left, right), strip.crop(right, strip.cell_length)
    marked = Strip([segment._replace(style=(segment.style or Style()) + style) for segment in within], right - left)
    return Strip.join([before, marked, after])


def selected_text(lines: Iterable[tuple[int, Strip]], selection: Selection, margin: int) -> str:
    """The selected characters, without the margin, the marks and the spaces that fill lines up."""
    found: list[str] = []
    for number, strip in lines:
        span = selection.get_span(number)
        if span is None:
            continue
        text = strip.text
        end = len(text) if span[1] == -1 else span[1]
        found.append(text[max(span[0], margin + GUTTER) : end].rstrip())
    return "\n".join(found).strip("\n")
