"""Which part of a picture is looked at. Pure figures."""

from typing import Final, Self

from msgspec import Struct, structs

CLOSEST: Final = 5  # 2⁵: a thirty-second of the side
STEP: Final = 0.5  # of what is in view


class Zoom(Struct, frozen=True):
    """`level` halves the side in view each time; `x` and `y` are the middle, from 0 to 1; the view
    stays within the picture."""

    level: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def part(self) -> float:
        """The share of each side that is in view."""
        return 0.5**self.level

    def closer(self, by: int) -> Self:
        """One step in or out. Until it is moved it stays at the upper left, where a page begins."""
        return structs.replace(self, level=max(0, min(self.level + by, CLOSEST)))

    @classmethod
    def reading(cls, begin: tuple[int, int], side: tuple[int, int], most: int, ratio: float = 1.0) -> Self:
        """Where words begin, as much of the picture as can be read: a view `most` pixels high at most, that has
        `begin` (left, top) in its upper left corner. `side` is the picture's width and height."""
        width, height = side
        level = next((level for level in range(CLOSEST) if height * 0.5**level <= most), CLOSEST)
        high = height * 0.5**level
        wide = min(high * ratio, width)
        return cls(level, (begin[0] + wide / 2) / width, (begin[1] + high / 2) / height) if level else cls()

    def moved(self, right: int, down: int) -> Self:
        step, here = self.part * STEP, self._within()
        return structs.replace(here, x=here.x + right * step, y=here.y + down * step)._within()

    def box(self, width: int, height: int, ratio: float = 1.0) -> tuple[int, int, int, int]:
        """Left, top, right, bottom in pixels of a picture of this size, for a view `ratio` times as wide as high."""
        if not self.level:
            return 0, 0, width, height
        high = max(round(self.part * height), 1)
        wide = max(min(round(high * ratio), width), 1)
        left = _clamped(round(self.x * width - wide / 2), width - wide)
        top = _clamped(round(self.y * height - high / 2), height - high)
        return left, top, left + wide, top + high

    def _within(self) -> Self:
        half = self.part / 2
        middle = [max(half, min(at, 1 - half)) for at in (self.x, self.y)]
        return structs.replace(self, x=middle[0], y=middle[1])


def _clamped(at: int, most: int) -> int:
    return max(0, min(at, most))


WHOLE: Final = Zoom()
