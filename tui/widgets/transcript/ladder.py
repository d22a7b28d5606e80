"""Which piece stands at which line."""

from bisect import bisect_right
from itertools import accumulate


class Ladder:
    """Heights in lines, and where each begins. Changing the end costs nothing of what stands before it."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._starts: list[int] = [0]

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """Lines in all."""
        return self._settled(len(self._heights))

    def start(self, index: int) -> int:
        """The line at which piece `index` begins."""
        return self._settled(index)

    def height(self, index: int) -> int:
        return self._heights[index]

    def at(self, line: int) -> tuple[int, int]:
        """The piece that holds a line, and the line within it. Raises IndexError beyond the end."""
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

    def cut(self, index: int) -> None:
        """Everything from `index` on is gone."""
        del self._heights[index:]
        del self._starts[index + 1 :]

    def prepend(self, heights: list[int]) -> None:
        self._heights[:0] = heights
        self._starts = [0]

    def _settled(self, index: int) -> int:
        known = len(self._starts)
        if index >= known:
            more = accumulate(self._heights[known - 1 : index], initial=self._starts[-1])
            self._starts.extend(list(more)[1:])
        return self._starts[index]
