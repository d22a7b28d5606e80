"""Transcript widget: messages, answers that stream, and earlier entries above them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import structs
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from foundation.text.find import TextFinder
from tui.typed_app import seconds_since_key
from tui.widgets.transcript.find_marks import FindMarks
from tui.widgets.transcript.focus import FocusTarget
from tui.widgets.transcript.frame_pace import INTERVAL_S, TYPING_S, FramePace
from tui.widgets.transcript.items import AnswerStream, MutedLine, TranscriptItem, Welcome, estimate_height
from tui.widgets.transcript.lines_view import MAX_CACHED_LINES, MAX_WIDTH, LinesView

CONTEXT_LINES: Final = 3  # lines, and items, left above an item that was scrolled to


class Transcript(LinesView):
    """Items from top to bottom. `add` appends items, `feed` streams an answer, `insert_older` adds earlier items."""

    @dataclass
    class ItemClicked(Message):
        """A click, without a selection. `row` is the line of the item, from 0."""

        item: TranscriptItem
        row: int

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.focused: FocusTarget | None = None  # marked in the margin
        self._find_marks: FindMarks | None = None
        self._stream: AnswerStream | None = None
        self._streamed: list[TranscriptItem] = []  # finished items of the newest answer
        self._finished_count = 0  # items before the open items of the streaming answer
        self._stream_timer: Timer | None = None
        self._pace = FramePace()
        self._last_notice: TranscriptItem | None = None

    def marked_lines(self) -> range:
        return self.focused.line_range(self.line_cache) if self.focused else range(0)

    def decorated(self, strip: Strip, number: int) -> Strip:
        if self._find_marks is None:
            return strip
        index, row = self.line_cache.locate(number)
        if not self.line_cache.is_rendered(index):
            return strip
        return self._find_marks.marked(strip, self.line_cache.items[index], self.line_cache.lines_of(index), row)

    # Finding

    def mark_matches(self, finder: TextFinder | None) -> None:
        """Marks all matches; None: none."""
        self._find_marks = FindMarks(finder) if finder else None
        self.refresh()

    def show_match(self, item: TranscriptItem, number: int) -> None:
        """Marks a match of an item as the current one, and scrolls to it unless it is visible."""
        index = self.line_cache.index_of(item)
        if index is None or self._find_marks is None:
            return
        self._find_marks.current = item, number
        self.is_following = False
        row = self._find_marks.row_of(self.line_cache.lines_of(index), number)
        self._update_size()
        line, top, height = self.line_cache.start(index) + row, round(self.scroll_y), self.size.height
        if not top + 1 <= line < top + height - 1:
            self._scroll_to_line(max(line - height // 3, 0))
            self._wrap_visible()
        self.refresh()

    def top_line(self) -> tuple[int, int]:
        """The index of the first visible item, and its first visible line."""
        return self._anchor()

    def show_line(self, item: TranscriptItem, offset: int) -> None:
        """Makes this line of an item the first visible one."""
        if (index := self.line_cache.index_of(item)) is not None:
            self.is_following = False
            self._restore_anchor((index, offset))
            self._wrap_visible()
            self.refresh()

    # Items

    def __len__(self) -> int:
        return len(self.line_cache)

    def add(self, *items: TranscriptItem) -> None:
        """Appends items. Ends a streaming answer; what does not belong to its turn goes through `interject`."""
        if not items:
            return
        self.end_stream()
        first = self.line_cache.total
        self.line_cache.append(items)
        self._update_from(first)

    def add_notices(self, *notices: MutedLine) -> None:
        """Appends notices. An empty line stands above the first, unless another notice is what it follows."""
        if not notices:
            return
        items = self.line_cache.items
        has_gap = not items or items[-1] is not self._last_notice
        first = structs.replace(notices[0], gap=has_gap)
        self.add(first, *notices[1:])
        self._last_notice = self.line_cache.items[-1]

    def interject(self, *items: TranscriptItem) -> None:
        """Adds items; above what a streaming answer still changes, which goes on below them."""
        if self._stream is None:
            self.add(*items)
            return
        removed = self.line_cache.truncate(self._finished_count)
        first = self.line_cache.total
        self.line_cache.append(items)
        self._finished_count = len(self.line_cache)
        self.line_cache.append([item for item, _ in removed], removed)
        self._update_from(first)

    def insert_older(self, items: Sequence[TranscriptItem]) -> None:
        """Inserts older items at the top; the visible lines stay where they are. Renders visible items first."""
        index, offset = self._anchor()
        width = min(self._width, MAX_WIDTH)
        self.line_cache.prepend(items, [estimate_height(item, width) for item in items])
        self._finished_count += len(items)
        self._update_size()
        self._restore_anchor((index + len(items), offset))
        self._wrap_visible()
        self._start_wrapping()
        self.refresh()

    def append_newer(self, items: Sequence[TranscriptItem], *, has_more: bool) -> None:
        """Appends later entries without scrolling. `has_more`: there are entries after them."""
        self.is_following = False
        self.line_cache.append(items)
        self._set_more_below(has_more=has_more)
        self._update_size()
        self.refresh()

    def drop_after(self, item: TranscriptItem) -> None:
        """Drops the items below this one, which are to be loaded again when they are needed."""
        index = self.line_cache.index_of(item)
        if index is None:
            return
        self.end_stream()
        self.is_following = False
        self.line_cache.truncate(index + 1)
        self._finished_count = min(self._finished_count, index + 1)
        self._set_more_below(has_more=True)
        self._update_size()
        self.refresh()

    def drop_before(self, item: TranscriptItem) -> None:
        """Drops the items above this one; the visible lines stay where they are."""
        dropped = self.line_cache.index_of(item) or 0
        index, offset = self._anchor()
        self.line_cache.drop_first(dropped)
        self._finished_count = max(self._finished_count - dropped, 0)
        self._update_size()
        self._restore_anchor((max(index - dropped, 0), offset))
        self.refresh()

    def scroll_to_item(self, item: TranscriptItem, *, has_more: bool) -> None:
        """Scrolls to this item and leaves some lines above it. `has_more`: there are entries after the last item."""
        index = self.line_cache.index_of(item)
        if index is None:
            return
        self.is_following = False
        self._set_more_below(has_more=has_more)
        for visible_index in range(max(index - CONTEXT_LINES, 0), min(index + self.size.height, len(self.line_cache))):
            self.line_cache.lines_of(visible_index)
        self._update_size()
        self._scroll_to_line(max(self.line_cache.start(index) - CONTEXT_LINES, 0))
        self.refresh()

    def replace_items(self, items: Sequence[TranscriptItem]) -> None:
        """Replaces all items, and scrolls to the first line. Renders visible items first."""
        self.clear()
        self.is_following = False
        width = min(self._width, MAX_WIDTH)
        self.line_cache.prepend(items, [estimate_height(item, width) for item in items])
        self._update_size()
        self._wrap_visible()
        self._start_wrapping()
        self.refresh()

    def extend(self, items: Sequence[TranscriptItem], *, is_last: bool) -> None:
        """Adds items below without rendering or scrolling: a long text comes in pieces."""
        width = min(self._width, MAX_WIDTH)
        self.line_cache.extend(items, [estimate_height(item, width) for item in items])
        self._update_size()
        if is_last:
            self._start_wrapping()

    def remove_item(self, item: TranscriptItem) -> None:
        """Removes this item."""
        self.replace_item(item, ())

    def replace_item(self, item: TranscriptItem, items: Sequence[TranscriptItem]) -> bool:
        """Shows these items in place of this one; the visible lines stay. False where it is not in the transcript."""
        index = self.line_cache.index_of(item)
        if index is None:
            return False
        anchor, first, total = self._anchor(), self.line_cache.start(index), self.line_cache.total
        if self.focused and self.focused.first is item and items:
            self.focused = FocusTarget((items[0],))
        removed = self.line_cache.truncate(index)
        self.line_cache.append([*items, *(other for other, _ in removed[1:])], removed)
        self._finished_count += (len(items) - 1) * (index < self._finished_count)
        if items and self.line_cache.total == total:
            self.refresh_lines(first, self.line_cache.start(index + len(items)) - first)
            return True
        self._update_size()
        self._restore_anchor(anchor)
        self.refresh()
        return True

    def show_model(self, model: str) -> None:
        """Has the welcome, where it is shown, name this model."""
        welcome = next((item for item in self.line_cache.items if isinstance(item, Welcome)), None)
        if welcome is not None and welcome.model != model:
            self.replace_item(welcome, [structs.replace(welcome, model=model)])

    def focus_on(self, target: FocusTarget | None) -> None:
        """Marks these items in the margin and scrolls to them; None: nothing is marked."""
        self.focused = target
        top = target.first_visible_line(self.line_cache, round(self.scroll_y), self.size.height) if target else None
        if top is not None:
            self.is_following = top >= self.max_scroll_y
            self._scroll_to_line(top)
            self._wrap_visible()
        self.refresh()

    def show_from(self, item: TranscriptItem) -> None:
        """Scrolls up to this item where it and what is below it are higher than the view.

        Of the item itself the last rows are shown, a third of the view at the most: a command with a long path leaves
        room for its receipt in a low window.
        """
        index = self.line_cache.index_of(item)
        if index is not None and self.line_cache.total - self.line_cache.start(index) > self.size.height > 0:
            top = self.line_cache.start(index) + max(0, self.line_cache.height(index) - self.size.height // 3)
            self.is_following = top >= self.max_scroll_y
            self._scroll_to_line(top)
            self._wrap_visible()
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        line = round(self.scroll_y) + event.y
        if event.button == 1 and line < self.line_cache.total and not self.text_selection:
            index, row = self.line_cache.locate(line)
            self.post_message(self.ItemClicked(self.line_cache.items[index], row))

    def clear(self) -> None:
        self.focused = None
        self.end_stream()
        self.line_cache.truncate(0)
        self.is_following = True
        self._set_new_below(has_new=False)
        self._update_size()
        self._scroll_to_line(0)
        self.refresh()

    # Streaming

    def feed(self, text: str, *, marked: bool = True) -> None:
        """Adds text to the answer; the first call starts it. `marked`: it carries the speaker's mark."""
        if self._stream is None:
            self._stream, self._streamed = AnswerStream(marked=marked), []
            self._finished_count = len(self.line_cache)
            self._stream_timer = self.set_interval(INTERVAL_S, self._advance_in_time)
        self._pace.add(len(text))
        self._stream.feed(text)

    def end_stream(self) -> None:
        """Ends the streaming answer."""
        if self._stream is None:
            return
        if self._stream_timer:
            self._stream_timer.stop()
        stream, self._stream = self._stream, None
        self._replace_open(stream, stream.close(), [])

    def withdraw_stream(self) -> None:
        """Removes the newest answer."""
        self.end_stream()
        for item in self._streamed:
            self.remove_item(item)
        self._streamed = []

    def _advance_in_time(self) -> None:
        if self._pace.is_due(is_typing=seconds_since_key(self) < TYPING_S):
            self.advance()

    def advance(self) -> None:
        """Draws the text that arrived since the last frame."""
        if self._stream and self._stream.has_pending:
            self._replace_open(self._stream, *self._stream.advance())

    def _replace_open(
        self, stream: AnswerStream, finished: list[TranscriptItem], open_items: list[TranscriptItem]
    ) -> None:
        removed = self.line_cache.truncate(self._finished_count)
        first = self.line_cache.total
        self.line_cache.append(finished, removed)
        self._streamed += finished
        self._finished_count = len(self.line_cache)
        self.line_cache.append(open_items, removed)
        self._update_from(first)
        for item, now in stream.take_changed():
            self.replace_item(item, [now])
            self._streamed = [now if streamed is item else streamed for streamed in self._streamed]

    def _update_from(self, first: int) -> None:
        """Updates the display after a change from line `first` on; lines above it are drawn again only if they move."""
        last = max(self.line_cache.total, self.virtual_size.height)
        if self.is_following and self.line_cache.rendered > MAX_CACHED_LINES:
            excess = self.line_cache.rendered - MAX_CACHED_LINES // 2
            self.line_cache.evict(len(self.line_cache) - self.size.height, excess)
        if not self.is_following:
            self._set_new_below(has_new=True)
        self._update_size()
        if self.is_following:
            self._scroll_to_line(self.max_scroll_y)
        self.refresh_lines(first, last - first)
