"""Text objects of Vim: words, quotations, brackets and paragraphs around an index."""

from typing import Final

from msgspec import Struct

from tui.widgets.prompt.vim.motions import Units, kind_of, line_end, line_start

_BRACKETS: Final = {bracket: pair for pair in ("()", "[]", "{}", "<>") for bracket in pair} | {"b": "()", "B": "{}"}


class Extent(Struct, frozen=True):
    """Units from `start` up to but without `end`. `linewise`: whole lines, the last newline included."""

    start: int
    end: int
    linewise: bool = False


def text_object(units: Units, index: int, name: str, count: int = 1) -> Extent | None:
    """The object: `iw`, `a"`, `i(`, …; None where there is none."""
    around, kind = name[0] == "a", name[1]
    if kind in "wW":
        return _word(units, index, count, around=around, big=kind == "W")
    if kind == "p":
        return _paragraph(units, index, count, around=around)
    if kind in "\"'`":
        return _quotation(units, index, kind, around=around)
    return _bracketed(units, index, _BRACKETS[kind], count, around=around)


def _word(units: Units, index: int, count: int, *, around: bool, big: bool) -> Extent | None:
    low, high = line_start(units, index), line_end(units, index)
    if index >= high:
        return None

    def run_end(at: int) -> int:
        kind = kind_of(units[at], big=big)
        while at < high and kind_of(units[at], big=big) == kind:
            at += 1
        return at

    start, end = index, index
    while start > low and kind_of(units[start - 1], big=big) == kind_of(units[index], big=big):
        start -= 1
    for _ in range(count):
        end = run_end(end) if end < high else end
        if around and end < high and (units[end].isspace() or units[start].isspace()):
            end = run_end(end)
    if around and end > start and not units[end - 1].isspace() and not units[start].isspace():
        while start > low and units[start - 1].isspace():  # no blank follows: those before go along
            start -= 1
    return Extent(start, end)


def _quotation(units: Units, index: int, mark: str, *, around: bool) -> Extent | None:
    low, high = line_start(units, index), line_end(units, index)
    marks: list[int] = []
    at = low
    while at < high:
        if units[at] == "\\":
            at += 1
        elif units[at] == mark:
            marks.append(at)
        at += 1
    for first, last in zip(marks[::2], marks[1::2], strict=False):
        if index <= last:
            if not around:
                return Extent(first + 1, last)
            end = last + 1
            while end < high and units[end].isspace():
                end += 1
            return Extent(first, end)
    return None


def _bracketed(units: Units, index: int, pair: str, count: int, *, around: bool) -> Extent | None:
    opening, closing = pair
    start = index
    depth = count
    while start >= 0:
        if start < len(units):
            if units[start] == closing and start != index:
                depth += 1
            elif units[start] == opening:
                depth -= 1
        if not depth:
            break
        start -= 1
    if start < 0:
        return None
    end, depth = start + 1, 1
    while end < len(units):
        depth += (units[end] == opening) - (units[end] == closing)
        if not depth:
            return Extent(start, end + 1) if around else Extent(start + 1, end)
        end += 1
    return None


def _paragraph(units: Units, index: int, count: int, *, around: bool) -> Extent | None:
    start = line_start(units, index)
    is_blank = _is_blank(units, start)
    while start > 0 and _is_blank(units, line_start(units, start - 1)) == is_blank:
        start = line_start(units, start - 1)
    end = start
    for _ in range(count * 2 if around else count):
        if end > len(units) or (end == len(units) and end > start):
            break
        wanted = _is_blank(units, end)
        while end < len(units) and _is_blank(units, end) == wanted:
            end = min(line_end(units, end) + 1, len(units))
            if end == len(units):
                break
        else:
            continue
        break
    return Extent(start, end, linewise=True)


def _is_blank(units: Units, start: int) -> bool:
    return all(unit.isspace() for unit in units[start : line_end(units, start)])
