"""Motions of Vim on a list of units: where each leads from an index."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from rich.cells import cell_len

Units = Sequence[str]
END_OF_LINE: Final = 1_000_000  # the column that `$` keeps for j and k


class Find(Struct, frozen=True):
    """A search within the line: `f`, `F`, `t` or `T`, and the character."""

    kind: str
    character: str

    @property
    def reversed(self) -> "Find":
        return Find(self.kind.swapcase(), self.character)


class Target(Struct, frozen=True):
    """Where a motion leads. `inclusive`: an operator takes the unit there too; `linewise`: it takes whole lines."""

    index: int
    inclusive: bool = False
    linewise: bool = False


def line_start(units: Units, index: int) -> int:
    while index > 0 and units[index - 1] != "\n":
        index -= 1
    return index


def line_end(units: Units, index: int) -> int:
    """The index of the newline that ends the line, or the text's length."""
    while index < len(units) and units[index] != "\n":
        index += 1
    return index


def first_word(units: Units, index: int) -> int:
    """The first unit of the line that is no blank; its last unit if all are."""
    index, end = line_start(units, index), line_end(units, index)
    while index < end - 1 and units[index].isspace():
        index += 1
    return index


def on_a_unit(units: Units, index: int) -> int:
    """The index itself, or the last unit of the line where it is behind that."""
    index = max(0, min(index, len(units)))
    start, end = line_start(units, index), line_end(units, index)
    return max(start, min(index, end - 1))


def column_of(units: Units, index: int) -> int:
    """Cells between the line's start and the index."""
    return sum(map(cell_len, units[line_start(units, index) : index]))


def at_column(units: Units, start: int, column: int) -> int:
    """The unit that covers this cell of the line that begins at `start`; its last unit where the line is shorter."""
    index, end = start, line_end(units, start)
    while index < end - 1 and (width := cell_len(units[index])) <= column:
        column -= width
        index += 1
    return index


def line_by(units: Units, index: int, count: int) -> int | None:
    """The start of the line `count` lines below (above if negative); None where there is none."""
    start = line_start(units, index)
    for _ in range(abs(count)):
        if count < 0:
            if start == 0:
                return None
            start = line_start(units, start - 1)
        else:
            end = line_end(units, start)
            if end >= len(units):
                return None
            start = end + 1
    return start


def kind_of(unit: str, *, big: bool = False) -> str:
    """The kind of a unit for word motions: a word is a run of one kind. `big`: all but blanks are of one."""
    first = unit[0]
    if first.isspace():
        return ""
    if big:
        return "big"
    if len(unit) > 1 and first == "[":
        return unit  # a chip is a word of its own
    code = ord(first)
    for name, low, high in _SCRIPTS:
        if low <= code <= high:
            return name
    return "word" if first.isalnum() or first == "_" else "emoji" if code >= 0x2600 else "sign"


_SCRIPTS: Final = (
    ("kana", 0x3041, 0x309F),
    ("katakana", 0x30A0, 0x30FF),
    ("han", 0x3400, 0x9FFF),
    ("hangul", 0xAC00, 0xD7A3),
    ("han", 0x20000, 0x3FFFF),
)


def word_forward(units: Units, index: int, *, big: bool) -> int:
    """The start of the next word; an empty line is one."""
    kind = kind_of(units[index], big=big) if index < len(units) else ""
    while index < len(units) and kind and kind_of(units[index], big=big) == kind:
        index += 1
    start = index
    while index < len(units) and units[index].isspace():
        if index > start and units[index] == "\n" and units[index - 1] == "\n":
            return index
        index += 1
    return index


def word_end(units: Units, index: int, *, big: bool) -> int:
    """The last unit of this word, or of the next one at the end of this."""
    index += 1
    while index < len(units) and units[index].isspace():
        index += 1
    if index >= len(units):
        return max(len(units) - 1, 0)
    kind = kind_of(units[index], big=big)
    while index + 1 < len(units) and kind_of(units[index + 1], big=big) == kind:
        index += 1
    return index


def word_back(units: Units, index: int, *, big: bool) -> int:
    """The start of this word, or of the one before at its start."""
    index -= 1
    while index > 0 and units[index].isspace():
        if units[index] == "\n" and units[index - 1] == "\n":
            return index
        index -= 1
    if index <= 0:
        return 0
    kind = kind_of(units[index], big=big)
    while index > 0 and kind_of(units[index - 1], big=big) == kind:
        index -= 1
    return index


def find_in_line(units: Units, index: int, find: Find, count: int, *, again: bool = False) -> int | None:
    """Where the `count`-th such character is, or the unit before it for t and T; None where there are fewer."""
    step = 1 if find.kind in "ft" else -1
    bound = line_end(units, index) if step > 0 else line_start(units, index) - 1
    position = index + step * (2 if again and find.kind in "tT" else 1)
    while (bound - position) * step > 0:
        if units[position] == find.character:
            count -= 1
            if not count:
                return position - step if find.kind in "tT" else position
        position += step
    return None


def paragraph(units: Units, index: int, step: Literal[1, -1]) -> int:
    """The next empty line, or the text's end."""
    position = line_start(units, index)
    is_empty = _is_empty_line(units, position)
    while (start := line_by(units, position, step)) is not None:
        position = start
        if _is_empty_line(units, position):
            if not is_empty:
                return position
        else:
            is_empty = False
    return 0 if step < 0 else len(units)


def _is_empty_line(units: Units, start: int) -> bool:
    return line_end(units, start) == start


def _repeated(step: Callable[[Units, int], int]) -> Callable[[Units, int, int], Target | None]:
    def move(units: Units, index: int, count: int) -> Target | None:
        at = index
        for _ in range(count):
            if (following := step(units, at)) == at:
                break
            at = following
        return Target(at) if at != index else None

    return move


def _left(units: Units, index: int, count: int) -> Target | None:
    at = max(line_start(units, index), index - count)
    return Target(at) if at != index else None


def _right(units: Units, index: int, count: int) -> Target | None:
    at = min(line_end(units, index), index + count)
    return Target(at) if at != index else None


def _line_end(units: Units, index: int, count: int) -> Target | None:
    start = line_by(units, index, count - 1)
    return None if start is None else Target(max(start, line_end(units, start) - 1), inclusive=True)


def _inclusive(step: Callable[[Units, int], int]) -> Callable[[Units, int, int], Target | None]:
    move = _repeated(step)

    def moved(units: Units, index: int, count: int) -> Target | None:
        target = move(units, index, count)
        return target and Target(target.index, inclusive=True)

    return moved


MOTIONS: Final[Mapping[str, Callable[[Units, int, int], Target | None]]] = {
    "h": _left,
    "l": _right,
    "w": _repeated(lambda units, index: word_forward(units, index, big=False)),
    "W": _repeated(lambda units, index: word_forward(units, index, big=True)),
    "b": _repeated(lambda units, index: word_back(units, index, big=False)),
    "B": _repeated(lambda units, index: word_back(units, index, big=True)),
    "e": _inclusive(lambda units, index: word_end(units, index, big=False)),
    "E": _inclusive(lambda units, index: word_end(units, index, big=True)),
    "0": lambda units, index, _: Target(line_start(units, index)),
    "^": lambda units, index, _: Target(first_word(units, index)),
    "$": _line_end,
    "{": _repeated(lambda units, index: paragraph(units, index, -1)),
    "}": _repeated(lambda units, index: paragraph(units, index, 1)),
}
"""By their keys; None where a motion leads nowhere. j, k, G, gg and the searches in a line need more than a count."""
