"""A text by its units with a cursor, and edits of it."""

from msgspec import Struct

from tui.widgets.prompt.units import index_at, units
from tui.widgets.prompt.vim.motions import Units, line_end, line_start, on_a_unit
from tui.widgets.prompt.vim.objects import Extent
from tui.widgets.prompt.vim.state import Effect, Step, VimMode, VimState


class Place(Struct, frozen=True):
    """A text by its units, and the cursor's index."""

    units: Units
    index: int

    @classmethod
    def at(cls, text: str, cursor: int) -> "Place":
        return cls(units(text), index_at(text, cursor))

    @property
    def offset(self) -> int:
        return sum(map(len, self.units[: self.index]))

    @property
    def text(self) -> str:
        return "".join(self.units)

    def step(self, state: VimState, effect: Effect = Effect.NONE, count: int = 1) -> Step:
        """The step that ends here; in normal mode the cursor is on a unit."""
        text = self.text
        cursor = min(self.offset, len(text))
        if state.mode is not VimMode.INSERT:
            made = Place.at(text, cursor)  # what was apart may be one grapheme now
            cursor = Place(made.units, on_a_unit(made.units, made.index)).offset
        return Step(text, cursor, state, effect, count)


def swap(place: Place, count: int) -> Place:
    here, index = place.units, place.index
    end = min(index + count, line_end(here, index))
    return Place([*here[:index], *map(swapped, here[index:end]), *here[end:]], end)


def swapped(unit: str) -> str:
    return unit.swapcase() if len(unit.swapcase()) == len(unit) == 1 else unit


def join(place: Place, count: int) -> Place:
    here, index = list(place.units), place.index
    for _ in range(min(count, here.count("\n"))):
        end = line_end(here, index)
        if end == len(here):
            break
        rest = end + 1
        while rest < len(here) and here[rest] in " \t":
            rest += 1
        is_apart = end == line_start(here, end) or here[end - 1].isspace() or rest == len(here) or here[rest] in "\n)"
        here[end:rest] = [] if is_apart else [" "]
        index = end
    return Place(here, index)


def lines(here: Units, first: int, last: int) -> Extent:
    return Extent(line_start(here, first), min(line_end(here, last) + 1, len(here)), linewise=True)


def ends_line(here: Units, end: int) -> bool:
    """Whether the unit before `end` is a newline."""
    return end > 0 and here[end - 1] == "\n"
