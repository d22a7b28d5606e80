"""Two edits of one text become one. Nothing that a person wrote is dropped, and no conflict markers are left."""

from collections.abc import Sequence
from difflib import SequenceMatcher

from merge3 import Merge3
from msgspec import Struct

from memory.hot.parse import lines_of


class MergeResult(Struct, frozen=True):
    """The merged text; `leftover` is ours where both changed the same lines: theirs stands in the text."""

    text: str
    leftover: str = ""


def merge(base: str, theirs: str, ours: str) -> MergeResult:
    """What `theirs` and `ours` each made of `base`, together."""
    if theirs in (base, ours):
        return MergeResult(ours)
    if ours == base:
        return MergeResult(theirs)
    lines = (lines_of(base), lines_of(theirs), lines_of(ours))
    if (spliced := _splice(*lines)) is not None:
        return MergeResult("".join(spliced))
    head, tail = shared_ends(lines)
    middles = [side[head : len(side) - tail] for side in lines]
    text = lines[0][:head]
    leftover = _merge_lines(text, *middles)
    if tail:
        add_lines(text, lines[0][-tail:])
    return MergeResult("".join(text), "".join(leftover))


def is_empty(text: str) -> bool:
    """Whether a note file with that text counts as deleted: all was taken out of it."""
    return not text.strip()


def _splice(base: list[str], theirs: list[str], ours: list[str]) -> list[str] | None:
    """The merged lines where theirs changed one place, and ours has the lines around that place just once.

    By far the most frequent case, and a hundred times as fast: who writes in a race must be quick.
    """
    head, tail = shared_ends((base, theirs))
    before, after = base[:head][-1:], base[len(base) - tail :][:1]
    if any(ours.count(line) != 1 or base.count(line) != 1 for line in (*before, *after)):
        return None
    first = ours.index(before[0]) + 1 if before else 0
    last = ours.index(after[0]) if after else len(ours)
    was, here, new = base[head : len(base) - tail], ours[first:last], theirs[head : len(theirs) - tail]
    if last < first or (was and here != was):
        return None
    merged = ours[:first]
    add_lines(merged, new if was or not here else union_lines(new, here))
    add_lines(merged, ours[last:])
    return merged


def _merge_lines(text: list[str], base: list[str], theirs: list[str], ours: list[str]) -> list[str]:
    """Adds the merged lines to `text`, and gives what of ours could not be merged."""
    leftover: list[str] = []
    for region in Merge3(base, theirs, ours).merge_regions():
        match region:
            case ("unchanged", int(first), int(last)):
                add_lines(text, base[first:last])
            case ("same" | "a", int(first), int(last)):
                add_lines(text, theirs[first:last])
            case ("b", int(first), int(last)):
                add_lines(text, ours[first:last])
            case (_, z1, z2, a1, a2, b1, b2):
                if _grew(base[z1:z2], theirs[a1:a2]) and _grew(base[z1:z2], ours[b1:b2]):  # both added: both stay
                    add_lines(text, union_lines(theirs[a1:a2], ours[b1:b2]))
                else:
                    add_lines(text, theirs[a1:a2])
                    known = {*base[z1:z2], *theirs[a1:a2]}
                    leftover += [line for line in ours[b1:b2] if line not in known]
    return leftover


def _grew(base: list[str], side: list[str]) -> bool:
    """Whether the side still has every line of the base, in order."""
    lines = iter(side)
    return all(line in lines for line in base)


def shared_ends(sides: Sequence[list[str]]) -> tuple[int, int]:
    """How many lines at the beginning, and then at the end, are the same on all sides."""
    shortest = min(map(len, sides))
    head = next((n for n, lines in enumerate(zip(*sides, strict=False)) if len(set(lines)) > 1), shortest)
    backwards = zip(*map(reversed, sides), strict=False)
    tail = next((n for n, lines in enumerate(backwards) if len(set(lines)) > 1), shortest)
    return head, min(tail, shortest - head)


def union_lines(theirs: list[str], ours: list[str]) -> list[str]:
    """The lines of both, in order; what they share stands once."""
    lines: list[str] = []
    for _, a1, a2, b1, b2 in SequenceMatcher(None, theirs, ours, autojunk=False).get_opcodes():
        add_lines(lines, theirs[a1:a2])
        if theirs[a1:a2] != ours[b1:b2]:
            add_lines(lines, ours[b1:b2])
    return lines


def add_lines(text: list[str], lines: list[str]) -> None:
    """A last line that had no end must get one before another follows."""
    if text and lines and not text[-1].endswith("\n"):
        text[-1] += "\n"
    text += lines
