"""The transcript: a scrolling view that draws lines made once, follows only at its end, and wraps what is seen first."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tui.widgets.transcript.ladder import Ladder
from tui.widgets.transcript.lines import Line
from tui.widgets.transcript.look import Look
from tui.widgets.transcript.pieces import Piece
from tui.widgets.transcript.render import strips
from tui.widgets.transcript.selecting import painted, selected_text
from tui.widgets.transcript.stream import AnswerStream

WIDEST: Final = 104  # cells; longer lines are hard to read
RATE: Final = 1 / 20  # seconds between two looks at an answer that is coming
SLICE: Final = 40  # lines wrapped at once after a resize, so that a key is never late
HINT: Final = " ↓ new · Ctrl+End "
KEPT: Final = 6_000  # lines kept rendered; older ones are made again when they come into view


class Transcript(ScrollView, can_focus=False):
    """Pieces from top to bottom. `add` appends, `stream` opens an answer, `put_before` brings in what is older."""

    ALLOW_SELECT = True

    class TopReached(Message):
        """The person scrolled up to the first line: there may be more before it."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.following = True
        self.unseen = False  # whether something came below while the person reads above
        self._pieces: list[Piece] = []
        self._strips: list[list[Strip] | None] = []
        self._rendered = 0  # lines in _strips
        self._ladder = Ladder()
        self._look: Look | None = None
        self._wrapped = 0  # the width that _strips were made for
        self._stream: AnswerStream | None = None
        self._settled = 0  # pieces before the open end of the stream
        self._clock: Timer | None = None
        self._rewrapping: Timer | None = None
        self._pinning = False
        self._painting = False

    # What stands in it

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, *pieces: Piece) -> None:
        """Appends; an answer that is open ends here."""
        self.end_stream()
        first = self._ladder.total
        self._append(pieces)
        self._grown(first)

    def put_before(self, pieces: Sequence[Piece]) -> None:
        """Older pieces, above; what is in view stays where it is."""
        anchor = self._anchor()
        made = [self._make(piece) for piece in pieces]
        self._pieces[:0] = pieces
        self._strips[:0] = made
        self._ladder.prepend([len(each) for each in made])
        self._rendered += sum(map(len, made))
        self._settled += len(pieces)
        self._resized_content()
        self._restore((anchor[0] + len(pieces), anchor[1]))

    def clear(self) -> None:
        self.end_stream()
        self._cut(0)
        self.following, self.unseen = True, False
        self._resized_content()

    def replace_last(self, piece: Piece) -> None:
        """The last piece is another now: a line that counts."""
        self._cut(len(self._pieces) - 1)
        first = self._ladder.total
        self._append([piece])
        self._grown(first)

    # An answer that is coming

    def feed(self, text: str, *, marked: bool = True) -> None:
        """More of the answer. The first call opens it; `marked` says whether it carries the speaker's mark."""
        if self._stream is None:
            self._stream = AnswerStream(marked=marked)
            self._settled = len(self._pieces)
            self._clock = self.set_interval(RATE, self._advance)
        self._stream.feed(text)

    def end_stream(self) -> None:
        """The answer is whole."""
        if self._stream is None:
            return
        if self._clock:
            self._clock.stop()
        last, self._stream = self._stream.close(), None
        self._replace_open(last, [])

    def _advance(self) -> None:
        if self._stream and self._stream.waits:
            self._replace_open(*self._stream.advance())

    def _replace_open(self, done: list[Piece], still_open: list[Piece]) -> None:
        before = list(zip(self._pieces[self._settled :], self._strips[self._settled :], strict=True))
        self._cut(self._settled)
        first = self._ladder.total
        self._append(done, before)
        self._settled = len(self._pieces)
        self._append(still_open, before)
        self._grown(first)

    # Lines

    def _append(self, pieces: Iterable[Piece], known: Sequence[tuple[Piece, list[Strip] | None]] = ()) -> None:
        for piece in pieces:
            made = next((lines for old, lines in known if old == piece and lines is not None), None)
            made = self._make(piece) if made is None else made
            self._pieces.append(piece)
            self._strips.append(made)
            self._ladder.append(len(made))
            self._rendered += len(made)

    def _cut(self, index: int) -> None:
        self._rendered -= sum(len(lines) for lines in self._strips[index:] if lines)
        del self._pieces[index:]
        del self._strips[index:]
        self._ladder.cut(index)

    def _make(self, piece: Piece) -> list[Strip]:
        look = self.look
        lines: list[Line] = piece.lines(self.content_width, look)
        left = Segment(" " * self._margin, look.text)
        return strips([[left, *line] for line in lines] if self._margin else lines, self._width, look)

    @property
    def look(self) -> Look:
        if self._look is None:
            self._look = Look.of_theme(self.app.theme_variables, self.rich_style)
        return self._look

    @property
    def _width(self) -> int:
        return self._wrapped or 80

    @property
    def content_width(self) -> int:
        return max(min(self._width - 1, WIDEST), 10)

    @property
    def _margin(self) -> int:
        return max((self._width - 1 - WIDEST) // 2, 0)

    def _lines_of(self, index: int) -> list[Strip]:
        lines = self._strips[index]
        if lines is None:
            lines = self._make(self._pieces[index])
            self._strips[index] = lines
            self._rendered += len(lines)
            self._ladder.set(index, len(lines))
        return lines

    def _grown(self, first: int) -> None:
        """After something changed from line `first` on: no line above it is drawn again, unless all of them move."""
        last = max(self._ladder.total, self.virtual_size.height)
        if self.following:
            self._forget_far()
        elif not self.unseen:
            self.unseen = True
            self.refresh()
        self._resized_content()
        if self.following:
            self._pin(self.max_scroll_y)
        self.refresh_lines(first, last - first)

    def _resized_content(self) -> None:
        size = Size(self._width, self._ladder.total)
        if size == self.virtual_size:
            return
        room = self.container_size.height
        if (size.height > room) != (self.virtual_size.height > room):
            self.virtual_size = size  # the scrollbar comes or goes: a new layout
        else:
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)

    def _forget_far(self) -> None:
        """Lines far above the end are let go; their heights stay."""
        if self._rendered <= KEPT:
            return
        spare = self._rendered - KEPT // 2
        for index, lines in enumerate(self._strips[: self._settled]):
            if spare <= 0:
                break
            if lines is not None:
                spare -= len(lines)
                self._rendered -= len(lines)
                self._strips[index] = None

    def render_lines(self, crop: Region) -> list[Strip]:
        self._painting = True  # offsets are for a selection's questions; a frame does without them
        try:
            return super().render_lines(crop)
        finally:
            self._painting = False

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        width = self.size.width
        line = scroll_y + y
        if line >= self._ladder.total:
            return Strip.blank(width, self.look.text)
        index, within = self._ladder.at(line)
        made = self._strips[index]
        if made is None:
            made = self._make(self._pieces[index])
            self.call_later(self._settle_view)
        strip = made[within] if within < len(made) else Strip.blank(width, self.look.text)
        if self.unseen and y == self.size.height - 1:
            return self._with_hint(strip, width)
        if (selection := self.text_selection) and (span := selection.get_span(line)):
            strip = painted(strip, span, self.look.selection)
        strip = strip.crop_extend(scroll_x, scroll_x + width, self.look.text)
        return strip if self._painting else strip.apply_offsets(scroll_x, line)

    def _with_hint(self, strip: Strip, width: int) -> Strip:
        hint = Segment(HINT, self.look.accent + Style(bgcolor=self.look.panel.bgcolor))
        room = max(width - len(HINT) - 1, 0)
        hinted = Strip.join([strip.adjust_cell_length(room, self.look.text), Strip([hint], len(HINT))])
        return hinted.crop_extend(0, width, self.look.text)

    # Where the person looks

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._pinning:
            self.following = new_value >= self.max_scroll_y
            if new_value <= 0 < old_value:
                self.post_message(self.TopReached())
        if self.following:
            self.unseen = False
        self._settle_view()

    def to_end(self) -> None:
        """Down to the newest line, and follow from there."""
        self.following, self.unseen = True, False
        self._pin(self.max_scroll_y)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        if self.unseen and event.y == self.size.height - 1 and event.x >= self.size.width - len(HINT) - 1:
            self.to_end()

    def _anchor(self) -> tuple[int, int]:
        top = round(self.scroll_y)
        return self._ladder.at(top) if top < self._ladder.total else (len(self._pieces), 0)

    def _restore(self, anchor: tuple[int, int]) -> None:
        """Scrolls so that this line of this piece is the first in view."""
        index, within = anchor
        if self.following or index >= len(self._pieces):
            self._pin(self.max_scroll_y)
            return
        self._pin(self._ladder.start(index) + min(within, self._ladder.height(index) - 1))

    def _pin(self, y: float) -> None:
        self._pinning = True
        self.scroll_to(y=y, animate=False, immediate=True)
        self._pinning = False

    def _settle_view(self) -> bool:
        """Wraps what is in view and was not yet; True where heights changed."""
        if not self._pieces or not self.size.height:
            return False
        anchor = self._anchor()
        total = self._ladder.total
        index = min(anchor[0], len(self._pieces) - 1)
        room = self.size.height + anchor[1]
        if self.following:
            index, room = self._from_end(self.size.height)
        while index < len(self._pieces) and room > 0:
            room -= len(self._lines_of(index))
            index += 1
        if self._ladder.total == total:
            return False
        self._resized_content()
        self._restore(anchor)
        return True

    def _from_end(self, height: int) -> tuple[int, int]:
        index = len(self._pieces)
        while index > 0 and height > 0:
            index -= 1
            height -= len(self._lines_of(index))
        return index, 0

    # Another width, another theme

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width != self._wrapped and event.size.width:
            self._rewrap(event.size.width)
        elif self.following:
            self._pin(self.max_scroll_y)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self._look is not None and self.is_mounted:
            fresh = Look.of_theme(self.app.theme_variables, self.rich_style)
            if fresh != self._look:
                self._look = fresh
                self._rewrap(self._width)

    def _rewrap(self, width: int) -> None:
        """Nothing is rendered any more; what is in view comes first, the rest in slices."""
        anchor = self._anchor()
        before, self._wrapped = self._width, width
        for index in range(len(self._pieces)):
            self._ladder.set(index, max(round(self._ladder.height(index) * before / width), 1))
        self._strips = [None] * len(self._pieces)
        self._rendered = 0
        self._restore_after_rewrap(anchor)
        if self._rewrapping is None and len(self._pieces):
            self._rewrapping = self.set_interval(0.02, self._rewrap_slice)

    def _restore_after_rewrap(self, anchor: tuple[int, int]) -> None:
        self._resized_content()
        self._restore(anchor)
        self._settle_view()
        self.refresh()

    def _rewrap_slice(self) -> None:
        """The nearest pieces that wait, a few lines at a time."""
        anchor = self._anchor()
        waiting = [index for index, lines in enumerate(self._strips) if lines is None]
        if not waiting or self._rendered >= KEPT:
            if self._rewrapping:
                self._rewrapping.stop()
                self._rewrapping = None
            return
        waiting.sort(key=lambda index: abs(index - anchor[0]))
        room = SLICE
        for index in waiting:
            room -= len(self._lines_of(index))
            if room <= 0:
                break
        self._resized_content()
        self._restore(anchor)

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        start = selection.start.y if selection.start else 0
        end = selection.end.y if selection.end else self._ladder.total - 1
        lines: list[tuple[int, Strip]] = []
        for line in range(start, min(end, self._ladder.total - 1) + 1):
            index, within = self._ladder.at(line)
            made = self._lines_of(index)
            if within < len(made):
                lines.append((line, made[within]))
        return selected_text(lines, selection, self._margin), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
