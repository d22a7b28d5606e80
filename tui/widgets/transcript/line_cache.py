"""Cache of the rendered lines of a transcript, and the mapping from line numbers to items."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from textual.strip import Strip

from tui.widgets.transcript.items import TranscriptItem


class LineHeights:
    """Heights of the items in lines, and the line at which each starts.

    The starts are computed when they are read, so a change at the end costs nothing for the items before it.
    """

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._starts: list[int] = [0]  # computed so far

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """The number of lines."""
        return self.start(len(self._heights))

    def start(self, index: int) -> int:
        """The line at which item `index` starts."""
        known = len(self._starts)
        if index >= known:
            more = accumulate(self._heights[known - 1 : index], initial=self._starts[-1])
            self._starts.extend(list(more)[1:])
        return self._starts[index]

    def height(self, index: int) -> int:
        return self._heights[index]

    def locate(self, line: int) -> tuple[int, int]:
        """The item that contains a line, and the line's offset in it. Raises IndexError beyond the end."""
        if not 0 <= line < self.total:
            raise IndexError(line)
        index = bisect_right(self._starts, line) - 1
        return index, line - self._starts[index]

    def set(self, index: int, height: int) -> None:
        if self._heights[index] != height:
            self._heights[index] = height
            del self._starts[index + 1 :]

    def append(self, height: int) -> None:
        self._heights.append(height)

    def truncate(self, index: int) -> None:
        """Removes the heights from `index` on."""
        del self._heights[index:]
        del self._starts[index + 1 :]

    def prepend(self, heights: list[int]) -> None:
        self._heights[:0] = heights
        self._starts = [0]

    def drop_first(self, count: int) -> None:
        del self._heights[:count]
        self._starts = [0]


RenderItem = Callable[[TranscriptItem], list[Strip]]


class LineCache:
    """Renders an item when it is added, and again only for another width or after its lines were evicted."""

    def __init__(self, render: RenderItem) -> None:
        self.render = render
        self._items: list[TranscriptItem] = []
        self._strips: list[list[Strip] | None] = []
        self._heights = LineHeights()
        self.rendered = 0  # lines in the cache

    def __len__(self) -> int:
        return len(self._items)

    @property
    def items(self) -> Sequence[TranscriptItem]:
        """The items, from top to bottom."""
        return self._items

    @property
    def total(self) -> int:
        """The number of lines; estimated for items not yet rendered at this width."""
        return self._heights.total

    def start(self, index: int) -> int:
        return self._heights.start(index)

    def height(self, index: int) -> int:
        return self._heights.height(index)

    def locate(self, line: int) -> tuple[int, int]:
        """The item that contains a line, and the line's offset in it; beyond the end (len, 0)."""
        return self._heights.locate(line) if line < self._heights.total else (len(self._items), 0)

    def append(
        self, items: Iterable[TranscriptItem], removed: Sequence[tuple[TranscriptItem, list[Strip] | None]] = ()
    ) -> None:
        """Adds items at the end. The lines of equal items among those just `removed` are used again."""
        for item in items:
            strips = next((strips for old, strips in removed if old == item and strips is not None), None)
            strips = self.render(item) if strips is None else strips
            self._items.append(item)
            self._strips.append(strips)
            self._heights.append(len(strips))
            self.rendered += len(strips)

    def prepend(self, items: Sequence[TranscriptItem], heights: Sequence[int]) -> None:
        """Adds items at the top without rendering them; `heights` are the estimates until then."""
        self._items[:0] = items
        self._strips[:0] = [None] * len(items)
        self._heights.prepend(list(heights))

    def extend(self, items: Sequence[TranscriptItem], heights: Sequence[int]) -> None:
        """Adds items at the end without rendering them; `heights` are the estimates until then."""
        self._items += items
        self._strips += [None] * len(items)
        for height in heights:
            self._heights.append(height)

    def index_of(self, item: TranscriptItem) -> int | None:
        """The index of this item, by identity; None if it is not in the transcript."""
        return next((index for index, other in enumerate(self._items) if other is item), None)

    def truncate(self, index: int) -> list[tuple[TranscriptItem, list[Strip] | None]]:
        """Removes the items from `index` on, and returns them with their lines."""
        removed = list(zip(self._items[index:], self._strips[index:], strict=True))
        self.rendered -= sum(len(strips) for _, strips in removed if strips)
        del self._items[index:]
        del self._strips[index:]
        self._heights.truncate(index)
        return removed

    def drop_first(self, count: int) -> None:
        """Removes the first `count` items."""
        self.rendered -= sum(len(strips) for strips in self._strips[:count] if strips)
        del self._items[:count]
        del self._strips[:count]
        self._heights.drop_first(count)

    def is_rendered(self, index: int) -> bool:
        return self._strips[index] is not None

    def lines_of(self, index: int) -> list[Strip]:
        """The item's lines. Renders them if needed, which can change the item's height."""
        strips = self._strips[index]
        if strips is None:
            strips = self.render(self._items[index])
            self._strips[index] = strips
            self.rendered += len(strips)
            self._heights.set(index, len(strips))
        return strips

    def line(self, number: int) -> Strip | None:
        """One line; None beyond the end of its item. An item that is not in the cache is rendered and not stored."""
        index, offset = self._heights.locate(number)
        cached = self._strips[index]
        strips = self.render(self._items[index]) if cached is None else cached
        return strips[offset] if offset < len(strips) else None

    def evict(self, before: int, excess: int) -> None:
        """Drops the lines of the oldest items before index `before`, until `excess` are dropped; keeps the heights."""
        for index in range(before):
            if excess <= 0:
                break
            if (strips := self._strips[index]) is not None:
                excess -= len(strips)
                self.rendered -= len(strips)
                self._strips[index] = None

    def invalidate(self, scale: float) -> None:
        """Drops all lines, and estimates the heights as the old ones times `scale`."""
        for index in range(len(self._items)):
            self._heights.set(index, max(round(self._heights.height(index) * scale), 1))
        self._strips = [None] * len(self._items)
        self.rendered = 0

    def unrendered(self, near: int) -> list[int]:
        """The items that are not rendered, nearest to index `near` first."""
        waiting = [index for index, strips in enumerate(self._strips) if strips is None]
        return sorted(waiting, key=lambda index: abs(index - near))
