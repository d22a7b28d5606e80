"""Takes one change back out of a text that others changed since. What they wrote stays, also right beside it."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from memory.hot.merge import add_lines, shared_ends
from memory.hot.parse import lines_of

_COMMENT: Final = re.compile("<!--.*-->")
_MOST_LINES: Final = 20_000
"""Of two texts together that are compared line by line; of longer ones what lies between two equal ends changed."""


def without_change(before: str, after: str, now: str) -> str | None:
    """The text `now` without the change that made `after` of `before`.

    `now` itself where nothing of the change is left in it; None where others changed the same lines.
    """
    if now == after:
        return before
    old, new, current = lines_of(before), lines_of(after), lines_of(now)
    places, replaced = _places(new, current)
    edits: list[tuple[list[int], int, list[str]]] = []  # the lines that go, and before which line the old ones go in
    for was, made in _hunks(old, new):
        removed, added = old[was], new[made]
        found = [places[at] for at in range(made.start, made.stop) if at in places]
        missing = [new[at] for at in range(made.start, made.stop) if at not in places]
        if not added:
            at = _insertion(places, made.start, len(new), len(current))
            if at is None:
                return None
            if _bare(current[at : at + len(removed)]) != _bare(removed):
                edits.append(([], at, removed))
        elif len(found) == len(added):
            edits.append((found, found[0], removed))
        elif _says_any(current, missing):  # moved
            return None
        elif removed:
            if found or not _has_all(current, removed):
                return None  # else somebody has put back what was there
        elif not replaced.isdisjoint(range(made.start, made.stop)):
            return None
        elif _says_any(added, [current[at] for at in found]):  # the rest was taken out by somebody
            edits.append((found, found[0], []))
    return _applied(current, edits) if edits else now


def _applied(current: list[str], edits: list[tuple[list[int], int, list[str]]]) -> str:
    gone = {at for lines, _, _ in edits for at in lines}
    put_in: dict[int, list[str]] = {}
    for _, at, lines in edits:
        put_in.setdefault(at, []).extend(lines)
    text: list[str] = []
    for at in range(len(current) + 1):
        add_lines(text, put_in.get(at, []))
        if at < len(current) and at not in gone:
            add_lines(text, [current[at]])
    return "".join(text)


def _insertion(places: dict[int, int], at: int, end: int, length: int) -> int | None:
    """Before which line of the current text belongs what stood before line `at`; None where its neighbours changed."""
    if at - 1 in places:
        return places[at - 1] + 1
    if at in places:
        return places[at]
    return {0: 0, end: length}.get(at)


def _says_any(lines: list[str], wanted: list[str]) -> bool:
    """Whether one of the wanted lines that say something is there."""
    present = set(_bare(lines))
    return any(line in present for line in _bare(wanted) if _says(line))


def _says(line: str) -> bool:
    """Whether it is neither an empty line nor a comment, as the time of a note is."""
    return bool(line.strip()) and not _COMMENT.fullmatch(line.strip())


def _has_all(lines: list[str], wanted: list[str]) -> bool:
    return set(_bare(wanted)) <= set(_bare(lines))


def _bare(lines: list[str]) -> list[str]:
    """The lines without their ends: an editor may have changed these."""
    return [line.rstrip("\r\n") for line in lines]


def _places(new: list[str], current: list[str]) -> tuple[dict[int, int], set[int]]:
    """Where each line that stayed is now, by its number; and the lines that others stand in the place of."""
    places, replaced = dict[int, int](), set[int]()
    for tag, first, last, at, end in _compared(new, current):
        if tag == "equal":
            places.update(zip(range(first, last), range(at, at + last - first), strict=True))
        elif any(map(_says, current[at:end])):
            replaced.update(range(first, last))
    return places, replaced


def _hunks(old: list[str], new: list[str]) -> Iterator[tuple[slice, slice]]:
    return (
        (slice(first, last), slice(begin, end))
        for tag, first, last, begin, end in _compared(old, new)
        if tag != "equal"
    )


def _compared(a: list[str], b: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Operations that make `b` of `a`, as those of difflib."""
    a, b = _bare(a), _bare(b)
    head, tail = shared_ends((a, b))
    a_end, b_end = len(a) - tail, len(b) - tail
    yield ("equal", 0, head, 0, head)
    if a_end + b_end - 2 * head > _MOST_LINES:
        yield ("replace", head, a_end, head, b_end)
    else:
        matcher = SequenceMatcher(None, a[head:a_end], b[head:b_end], autojunk=False)
        for tag, a1, a2, b1, b2 in matcher.get_opcodes():
            yield (tag, a1 + head, a2 + head, b1 + head, b2 + head)
    yield ("equal", a_end, len(a), b_end, len(b))
