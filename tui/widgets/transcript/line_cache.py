"""The pieces of a transcript with the lines they were made into, and where each stands.

Which piece stands at which line.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from textual.strip import Strip

from tui.widgets.transcript.items import TranscriptItem


class LineHeights:
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


RenderItem = Callable[[TranscriptItem], list[Strip]]


class LineCache:
    """Lines are made when a piece comes, and made again only for another width or when they were let go."""

    def __init__(self, make: RenderItem) -> None:
        self.make = make
        self._pieces: list[TranscriptItem] = []
        self._strips: list[list[Strip] | None] = []
        self._ladder = LineHeights()
        self.rendered = 0  # lines held

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def total(self) -> int:
        """Lines in all; those of pieces not yet wrapped at this width are estimated."""
        return self._ladder.total

    def start(self, index: int) -> int:
        return self._ladder.start(index)

    def height(self, index: int) -> int:
        return self._ladder.height(index)

    def at(self, line: int) -> tuple[int, int]:
        """The piece that holds a line, and the line within it; beyond the end (len, 0)."""
        return self._ladder.at(line) if line < self._ladder.total else (len(self._pieces), 0)

    def append(
        self, pieces: Iterable[TranscriptItem], known: Sequence[tuple[TranscriptItem, list[Strip] | None]] = ()
    ) -> None:
        """Adds at the end. `known` are pieces that were just cut off: what stands unchanged is not made again."""
        for piece in pieces:
            made = next((lines for old, lines in known if old == piece and lines is not None), None)
            made = self.make(piece) if made is None else made
            self._pieces.append(piece)
            self._strips.append(made)
            self._ladder.append(len(made))
            self.rendered += len(made)

    def prepend(self, pieces: Sequence[TranscriptItem], heights: Sequence[int]) -> None:
        """Adds above, not made yet; `heights` are guesses that hold until then."""
        self._pieces[:0] = pieces
        self._strips[:0] = [None] * len(pieces)
        self._ladder.prepend(list(heights))

    def find(self, piece: TranscriptItem) -> int | None:
        """Where this very piece stands; None where it does not."""
        return next((index for index, each in enumerate(self._pieces) if each is piece), None)

    def cut(self, index: int) -> list[tuple[TranscriptItem, list[Strip] | None]]:
        """Takes away what stands from `index` on, and gives it."""
        gone = list(zip(self._pieces[index:], self._strips[index:], strict=True))
        self.rendered -= sum(len(lines) for _, lines in gone if lines)
        del self._pieces[index:]
        del self._strips[index:]
        self._ladder.cut(index)
        return gone

    def is_made(self, index: int) -> bool:
        return self._strips[index] is not None

    def lines_of(self, index: int) -> list[Strip]:
        """The piece's lines, made now where they were not: its height may change."""
        lines = self._strips[index]
        if lines is None:
            lines = self.make(self._pieces[index])
            self._strips[index] = lines
            self.rendered += len(lines)
            self._ladder.set(index, len(lines))
        return lines

    def line(self, number: int) -> Strip | None:
        """One line; None beyond the end of its piece. Makes the piece without keeping it where it is not made."""
        index, within = self._ladder.at(number)
        made = self._strips[index]
        made = self.make(self._pieces[index]) if made is None else made
        return made[within] if within < len(made) else None

    def let_go(self, before: int, spare: int) -> None:
        """Drops the lines of the oldest pieces, until `spare` lines are dropped; their heights stay."""
        for index in range(before):
            if spare <= 0:
                break
            if (lines := self._strips[index]) is not None:
                spare -= len(lines)
                self.rendered -= len(lines)
                self._strips[index] = None

    def drop_all(self, scale: float) -> None:
        """Nothing is made any more; heights are scaled until it is."""
        for index in range(len(self._pieces)):
            self._ladder.set(index, max(round(self._ladder.height(index) * scale), 1))
        self._strips = [None] * len(self._pieces)
        self.rendered = 0

    def nearest_unmade(self, index: int) -> list[int]:
        """The pieces that wait to be made, nearest to `index` first."""
        waiting = [at for at, lines in enumerate(self._strips) if lines is None]
        return sorted(waiting, key=lambda at: abs(at - index))
