"""Scroll view of cached lines: follows its end, wraps the visible part first, and can be selected from."""

from dataclasses import dataclass
from typing import Final

from rich.segment import Segment
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from tui.typed_app import app_of
from tui.widgets.transcript.focus import with_mark
from tui.widgets.transcript.items import TranscriptItem
from tui.widgets.transcript.line_cache import LineCache
from tui.widgets.transcript.strips import highlight_span, selected_text, to_strips
from tui.widgets.transcript.styles import TranscriptStyles

MAX_WIDTH: Final = 104  # cells; longer lines are hard to read
SLICE_LINES: Final = 40  # lines wrapped at once after a resize, so that keys are not delayed
MAX_CACHED_LINES: Final = 2_000  # lines; older ones are rendered again when they scroll into view


class LinesView(ScrollView, can_focus=False):
    """Shows the lines of a `LineCache`."""

    ALLOW_SELECT = True

    class TopReached(Message, namespace="transcript"):
        """The user scrolled up to the first line: there may be earlier entries to load."""

    class BottomReached(Message, namespace="transcript"):
        """The user scrolled down to the last line: there may be later entries to load."""

    @dataclass
    class NewBelowChanged(Message, namespace="transcript"):
        """Whether there are new lines below the visible ones."""

        has_new: bool
        has_more: bool = False

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.is_following = True
        self._has_new_below = False  # whether lines were added below the visible ones
        self._has_more_below = False  # whether later entries are to be loaded below
        self.line_cache = LineCache(self._render_item)
        self._line_styles: TranscriptStyles | None = None
        self._width = 80  # the width that lines are rendered for
        self._wrap_timer: Timer | None = None
        self._is_own_scroll = False
        self._is_painting = False
        self._marked_lines = range(0)

    def marked_lines(self) -> range:
        """The lines with a mark in the margin."""
        return range(0)

    def decorated(self, strip: Strip, number: int) -> Strip:
        """The line as it is shown now; itself where nothing in it is marked."""
        del number
        return strip

    # Lines

    @property
    def line_styles(self) -> TranscriptStyles:
        """The styles of the theme in use."""
        if self._line_styles is None:
            self._line_styles = TranscriptStyles.of_theme(app_of(self).theme_variables, self.rich_style)
        return self._line_styles

    @property
    def left_margin(self) -> int:
        return max((self._width - 1 - MAX_WIDTH) // 2, 0)  # one column is for the scrollbar

    def _render_item(self, item: TranscriptItem) -> list[Strip]:
        styles = self.line_styles
        lines = item.lines(max(min(self._width - 1, MAX_WIDTH), 10), styles)
        left = Segment(" " * self.left_margin, styles.text)
        strips = to_strips([[left, *line] for line in lines] if self.left_margin else lines, self._width, styles)
        return [self._filtered(strip) for strip in strips]

    def _filtered(self, strip: Strip) -> Strip:
        """The strip without the colours that the terminal is not to be sent. Textual's own way keeps both in memory."""
        for line_filter in self.get_line_filters():
            strip = Strip(line_filter.apply([*strip], self.background_colors[1]), strip.cell_length)
        return strip

    def _update_size(self) -> None:
        size = Size(self._width, self.line_cache.total)
        if size == self.virtual_size:
            return
        room = self.container_size.height
        was_own, self._is_own_scroll = self._is_own_scroll, True  # a shorter transcript moves the view
        if (size.height > room) != (self.virtual_size.height > room):
            self.virtual_size = size  # the scrollbar appears or disappears: a new layout
        else:
            self.set_reactive(ScrollView.virtual_size, size)  # pyright: ignore[reportArgumentType] - it is a reactive of the class
            self._scroll_update(size)
        self._is_own_scroll = was_own

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines of a frame, the very strips of the cache. Textual would copy each line for each frame, for the
        borders, padding and opacity that this widget does not have.
        """
        self._is_painting = True  # offsets are needed for a selection, not for a frame
        self._marked_lines = self.marked_lines()
        strips = [self.render_line(y) for y in crop.line_range]
        self._is_painting = False
        first, last = crop.column_span
        return strips if (first, last) == (0, self.size.width) else [strip.crop(first, last) for strip in strips]

    def render_line(self, y: int) -> Strip:
        scroll_x, scroll_y = self.scroll_offset
        width, number = self.size.width, scroll_y + y
        if number >= self.line_cache.total:
            return self._filtered(Strip.blank(width, self.line_styles.text))
        if not self.line_cache.is_rendered(self.line_cache.locate(number)[0]):
            self.call_later(self._wrap_visible)
        strip = cached = self.line_cache.line(number) or Strip.blank(width, self.line_styles.text)
        strip = self.decorated(strip, number)
        if (selection := self.text_selection) and (span := selection.get_span(number)):
            strip = highlight_span(strip, span, self.line_styles.selection)
        if number in self._marked_lines:
            strip = with_mark(strip, self.left_margin, self.line_styles.accent)
        if strip is not cached:
            strip = self._filtered(strip)
        strip = strip.crop_extend(scroll_x, scroll_x + width, self.line_styles.text)
        return strip if self._is_painting else strip.apply_offsets(scroll_x, number)

    # Scrolling

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if not self._is_own_scroll:
            self.is_following = new_value >= self.max_scroll_y
            if new_value <= 0 < old_value:
                self.post_message(self.TopReached())
            if self.is_following and new_value > old_value:
                self.post_message(self.BottomReached())
        if self.is_following:
            self._set_new_below(has_new=False)
        self._wrap_visible()

    def follow_end(self) -> None:
        """Scrolls to the last line and follows new ones."""
        self.is_following = True
        self._set_new_below(has_new=False)
        self._wrap_visible()
        self._scroll_to_line(self.max_scroll_y)
        self.refresh()

    def _set_new_below(self, *, has_new: bool) -> None:
        self._set_below(has_new=has_new, has_more=False)

    def _set_more_below(self, *, has_more: bool) -> None:
        """Later entries are to be loaded below; nothing of it is new."""
        self._set_below(has_new=self._has_new_below and has_more, has_more=has_more)

    def _set_below(self, *, has_new: bool, has_more: bool) -> None:
        if (has_new, has_more) != (self._has_new_below, self._has_more_below):
            self._has_new_below, self._has_more_below = has_new, has_more
            self.post_message(self.NewBelowChanged(has_new, has_more))

    def _anchor(self) -> tuple[int, int]:
        return self.line_cache.locate(round(self.scroll_y))

    def _restore_anchor(self, anchor: tuple[int, int]) -> None:
        """Scrolls so that this line of this item is the first visible one; to the end while following."""
        index, offset = anchor
        if self.is_following or index >= len(self.line_cache):
            self._scroll_to_line(self.max_scroll_y)
            return
        self._scroll_to_line(self.line_cache.start(index) + min(offset, self.line_cache.height(index) - 1))

    def _scroll_to_line(self, y: float) -> None:
        self._is_own_scroll = True
        self.scroll_to(y=y, animate=False, immediate=True, force=True)
        self._is_own_scroll = False

    def _wrap_visible(self) -> None:
        """Renders the visible items that are not rendered yet."""
        if not len(self.line_cache) or not self.size.height:
            return
        anchor, total = self._anchor(), self.line_cache.total
        if self.is_following:
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
            self._update_size()
            self._restore_anchor(anchor)
            self.refresh()

    # Resizing and themes

    def on_resize(self, event: events.Resize) -> None:
        if event.size.width and event.size.width != self._width:
            self._rewrap(event.size.width)
        elif self.is_following:
            self._scroll_to_line(self.max_scroll_y)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self._line_styles is None or not self.is_attached:
            return
        styles = TranscriptStyles.of_theme(app_of(self).theme_variables, self.rich_style)
        if styles != self._line_styles:
            self._line_styles = styles
            self._rewrap(self._width)

    def _rewrap(self, width: int) -> None:
        """Renders all items again: the visible ones at once, the others in slices."""
        anchor = self._anchor()
        old_width, self._width = self._width, width
        self.line_cache.invalidate(old_width / width)
        self._update_size()
        self._restore_anchor(anchor)
        self._wrap_visible()
        self._start_wrapping()
        self.refresh()

    def _start_wrapping(self) -> None:
        if self._wrap_timer is None and len(self.line_cache):
            self._wrap_timer = self.set_interval(0.02, self._wrap_slice)

    def _wrap_slice(self) -> None:
        """Renders some lines of the items nearest to the visible ones."""
        anchor = self._anchor()
        unrendered = self.line_cache.unrendered(anchor[0])
        if not unrendered or self.line_cache.rendered >= MAX_CACHED_LINES:
            if self._wrap_timer:
                self._wrap_timer.stop()
                self._wrap_timer = None
            return
        room = SLICE_LINES
        for index in unrendered:
            room -= len(self.line_cache.lines_of(index))
            if room <= 0:
                break
        self._update_size()
        self._restore_anchor(anchor)

    # Selection

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else self.line_cache.total, self.line_cache.total - 1)
        lines = [(number, strip) for number in range(first, last + 1) if (strip := self.line_cache.line(number))]
        return selected_text(lines, selection, self.left_margin), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()
